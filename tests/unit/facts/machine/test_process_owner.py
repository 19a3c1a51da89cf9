"""Whose process it is that is called like a database server: by its control group and PID namespace, never by its name.

Outputs of the project's own, in the form of procps 4.0 on Debian 12 and of version 1 groups on older systems.
"""

from __future__ import annotations

import pytest

from services.facts.machine.machine import find_process, parse_process, parse_units
from services.facts.machine.os_stream import OsParser
from services.facts.machine.process_owner import CONTAINER, HAND, PERSON, is_of_database, owner_of
from tests.unit.discovery.scenes import estate, member, node, sql_gone
from tests.unit.facts.server.test_cut_texts import DATA

BESIDE = (DATA / "debian-12-ps-beside-a-container.txt").read_text()
OWN = "0::/user.slice/user-0.slice/session-41.scope"
RESTS, RUNS = "inactive/dead", "active/running"


@pytest.mark.parametrize(
    ("groups", "owner"),
    [
        ("0::/system.slice/mariadb.service", "mariadb.service"),
        ("0::/system.slice/system-mysqld.slice/mysqld@two.service", "mysqld@two.service"),
        ("12:pids:/system.slice/mysqld@x.service,1:name=systemd:/system.slice/mysqld@x.service", "mysqld@x.service"),
        ("4:cpu:/,1:name=systemd:/system.slice/mysqld@x.service,0::/", "mysqld@x.service"),
        ("0::/system.slice/pacemaker.service", "pacemaker.service"),
        ("0::/user.slice/user-0.slice/session-5.scope", HAND), ("0::/", HAND), ("0::/init.scope", HAND),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/akonadi.service", PERSON),
        ("0::/system.slice/docker-4f5a1c9e0b7d.scope", CONTAINER), ("0::/docker/4f5a1c9e0b7d", CONTAINER),
        ("8:perf_event:/docker/4f5a,1:name=systemd:/docker/4f5a", CONTAINER),
        ("0::/machine.slice/libpod-4f5a.scope/container", CONTAINER),
        ("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-4f5a.scope", CONTAINER),
        ("0::/kubepods.slice/kubepods-burstable.slice/kubepods-pod1.slice/cri-containerd-4f5a.scope", CONTAINER),
        ("0::/kubepods/besteffort/pod1/4f5a", CONTAINER), ("0::/lxc.payload.web/system.slice/mysql.service", CONTAINER),
        ("0::/lxc/web/system.slice/mysql.service", CONTAINER),
        ("0::/machine.slice/machine-web.scope/payload/system.slice/mysql.service", CONTAINER),
        ("0::/machine.slice/systemd-nspawn@web.service/payload/system.slice/mysql.service", CONTAINER),
        ("", ""), ("-", ""), ("nonsense", ""), ("0:", ""),
    ],
)  # fmt: skip
def test_that_a_group_tells_whose_a_process_is(groups: str, owner: str) -> None:
    assert owner_of(groups, OWN) == owner


def test_that_what_runs_in_ones_own_container_is_none_of_another() -> None:
    own = "0::/lxc.payload.web/system.slice/ssh.service"
    assert owner_of("0::/lxc.payload.web/system.slice/mysql.service", own) == "mysql.service"
    assert owner_of("0::/lxc.payload.shop/system.slice/mysql.service", own) == CONTAINER
    assert owner_of("1:name=systemd:/docker/4f5a", "1:name=systemd:/docker/4f5a") == HAND


@pytest.mark.parametrize(
    "unit", ["mariadb.service", "mysqld@x.service", "mariadb@x.service", "mysql@bootstrap.service"]
)
def test_that_units_of_instances_are_units_of_a_server(unit: str) -> None:
    assert is_of_database(unit)
    assert not is_of_database(f"app-{unit}")


def test_that_processes_of_a_container_and_of_a_person_are_not_the_server() -> None:
    assert parse_process(BESIDE) == ("?", None)
    assert find_process(BESIDE).owner == CONTAINER


def test_that_the_server_of_the_unit_counts_beside_others_wherever_it_stands() -> None:
    own = " 9001 Ssl  mysqld          0::/system.slice/mysqld@shop.service\n"
    for text in (own + BESIDE, BESIDE + own):
        assert parse_process(text) == ("S", 9001)
    by_hand = " 9002 Sl  mysqld          0::/user.slice/user-0.slice/session-3.scope\n"
    assert parse_process(BESIDE + by_hand) == ("S", 9002)


def test_that_a_listing_without_groups_is_read_by_names_and_says_so() -> None:
    found = find_process("  812 Ssl  mariadbd\n")
    assert (found.state, found.pid, found.owner) == ("S", 812, "")


@pytest.mark.parametrize(
    ("owner", "unit_state", "code"),
    [
        (CONTAINER, RESTS, "not-running"), (PERSON, RESTS, "not-running"), (CONTAINER, "failed/failed", "not-running"),
        (CONTAINER, "", "sql-silent"), (CONTAINER, RUNS, "sql-silent"), ("", RESTS, "sql-silent"),
        ("pacemaker.service", RESTS, "sql-silent"), ("", RUNS, "no-sql"), (HAND, RESTS, "no-sql"),
        ("mariadb.service", RUNS, "no-sql"), ("mariadb@two.service", RUNS, "no-sql"),
    ],
)  # fmt: skip
def test_that_a_server_does_not_run_only_by_its_units_word_and_whose_process_is_seen(
    owner: str, unit_state: str, code: str
) -> None:
    before = estate(member(1), member(2), member(3))
    bent = {"process_state": "S", "process_owner": owner, "unit_state": unit_state}
    later = estate(*(sql_gone(member(n), **bent) for n in (1, 2, 3)), previous=before)
    view = node(later, "db1")
    running = {"not-running": False, "no-sql": True, "sql-silent": None}[code]
    assert ("not running" in view.state) is (running is False)
    assert ("runs (state S)" in view.reason) is (running is True)
    assert any(p.code == "all-down" for p in later.clusters[0].problems) is (running is False)


def test_that_of_several_units_it_is_the_one_whose_main_process_the_server_is() -> None:
    blocks = [
        f"MainPID={pid}\nId=mariadb@{name}.service\nLoadState=loaded\nActiveState=active\nSubState=running\nStatusText="
        for name, pid in (("one", 811), ("two", 822))
    ]
    text = "\n\n".join(blocks) + "\n"
    assert parse_units(text, 822).unit == "mariadb@two.service"
    assert parse_units(text, 999).unit == parse_units(text).unit == "mariadb@one.service"


@pytest.mark.parametrize(
    ("process", "seen"),
    [
        ("4321 S", ("S", 4321, "")),
        ("4321 S /system.slice/mariadb.service /user.slice/session-1.scope", ("S", 4321, "mariadb.service")),
        ("4321 S /docker/4321 /", ("S", 4321, CONTAINER)), ("4321 S - -", ("S", 4321, "")), ("- - - /", ("", None, "")),
        ("- -", ("", None, "")), ("4321 S /x", ("", None, "")),
    ],
)  # fmt: skip
def test_that_the_stream_tells_whose_the_process_is(process: str, seen: tuple[str, int | None, str]) -> None:
    reading = OsParser().feed(f"t 1795265449123456;@stat;cpu  10 2 3 400 5 0 1 0 0 0;@proc;{process}".encode())
    assert reading is not None
    assert (reading.process_state, reading.process_pid, reading.process_owner) == seen
