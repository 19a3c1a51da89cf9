"""A backup that is brought first, from another host or made now: the plan, its refusals, undo, kill and resume."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.facts.model import DiskFacts
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.bringing.programs import CLEAR_PLACE, MAKE_PLACE, TAKE_IN
from services.procedures.plan.actions import Detached, Run, Several
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import RunState
from services.procedures.plan.wording import wording
from tests.faults.scripted import bringing
from tests.faults.scripted.cluster import Cluster, whole
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.running import Bench
from tests.unit.procedures.host_of import changed

RUN = procedure_named("rejoin-from-incrementals")
NOW = {"joiner": "n3", "backup_from": "now", "source": "n2", "settle": "1 s"}
HOST = {"joiner": "n3", "backup_from": "host", "source": "n1", "settle": "1 s"}
PLACE = f"{bringing.PLACE}n3"


def _away() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.kill(cluster.hosts["n3"])
    return cluster


def _facts(of: str = "n3", **more: Any) -> Facts:
    facts = facts_of(_away())
    return replace(facts, hosts=tuple(changed(h, **more) if h.host == of else h for h in facts.hosts))


def _plan(facts: Facts, inputs: dict[str, str]) -> Plan:
    assert RUN.faults(facts, inputs) == ()
    plan = RUN.plan(facts, inputs)
    assert violations(plan) == ()
    return plan


def _blocks(facts: Facts, inputs: dict[str, str]) -> dict[str, Check]:
    assert RUN.faults(facts, inputs) == ()
    return {check.code: check for check in RUN.preflight(facts, inputs) if check.verdict is Verdict.BLOCK}


def _faults(inputs: dict[str, str]) -> set[str]:
    return {fault.field for fault in RUN.faults(_facts(), inputs)}


def test_that_the_first_part_touches_nothing_of_the_nodes_own_and_closes_all_that_it_opened() -> None:
    for inputs, source in ((NOW, "n2"), (HOST, "n1")):
        plan = _plan(_facts(), inputs)
        assert [step.step_id for step in plan.steps] == [
            f"place-{source}", "place-n3", "pair-n3", f"pair-{source}", "receive-n3", f"send-{source}", "came-n3",
            "unreceive-n3", "unpair-n3", f"unpair-{source}", "backup-known",
        ]  # fmt: skip
        assert _blocks(_facts(), inputs) == {}
        taken = {step.takes.key for step in plan.steps if step.takes is not None}
        assert taken - {key for step in plan.steps for key in step.discharges} == {"brought:n3"}


def test_that_a_backup_on_the_node_is_planned_as_before() -> None:
    plan = _plan(_facts(), {"joiner": "n3"})
    assert plan.steps[0].step_id == "history-n3"
    assert not any("brought" in step.step_id for step in plan.steps)


def test_that_only_who_has_this_runs_certificate_is_let_in_and_no_key_stands_on_a_command_line() -> None:
    plan = _plan(_facts(), NOW)
    opened = plan.step("receive-n3").action
    assert isinstance(opened, Several)
    words = next(
        one.command.argv for one in opened.actions if isinstance(one, Run) and "systemd-run" in one.command.argv
    )
    listen = next(word for word in words if word.startswith("openssl-listen:4444"))
    assert f"cafile={PLACE}/ca.pem" in listen
    assert "verify=0" not in listen
    assert "--property=ProtectSystem=strict" in words
    assert f"--property=ReadWritePaths={PLACE}" in words
    for step in plan.steps:
        assert not any("PRIVATE KEY" in line or "password" in line for line in wording(step.action))


def test_that_the_sender_tells_the_bytes_of_the_other_end() -> None:
    action = _plan(_facts(), NOW).step("send-n2").action
    assert isinstance(action, Detached)
    assert (action.grows_on, action.grows, action.total) == ("n3", PLACE, 5 * 10**8)


def test_that_a_rate_bounds_what_is_sent() -> None:
    action = _plan(_facts(), {**NOW, "rate": "50 MiB"}).step("send-n2").action
    assert isinstance(action, Detached)
    assert "--throttle=5" in action.command.argv
    assert "rate" in _faults({**NOW, "rate": "1 MiB"})
    action = _plan(_facts(), {**HOST, "rate": "1 MiB"}).step("send-n1").action
    assert isinstance(action, Detached)
    assert str(2**20) in action.command.argv


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ({**NOW, "source": "n3"}, "source"),
        ({**HOST, "source": "n3"}, "source"),
        ({**NOW, "into": "/var/lib/mysql"}, "into"),
        ({**NOW, "into": "/a/b/c/d"}, "into"),
        ({**NOW, "into": "/srv/$(x)"}, "into"),
        ({**HOST, "full": "/a/full", "incrementals": "/b/full"}, ""),
    ],
)
def test_that_answers_that_can_not_be_are_told(inputs: dict[str, str], field: str) -> None:
    assert field in _faults(inputs)


@pytest.mark.parametrize(
    ("of", "more", "code"),
    [
        ("n2", {"tools_there": ("socat",)}, "BRING-TOOLS"),
        ("n3", {"tools_there": ("socat", "mariadb-backup", "systemd-run")}, "BRING-TOOLS"),
        ("n3", {"listening_ports": frozenset({4444})}, "BRING-PORT"),
        ("n3", {"volumes_disks": (DiskFacts("/", "/dev/vda", 10**10, 10**9),)}, "BRING-ROOM"),
        ("n2", {"data_size_in_bytes": None}, "BRING-ROOM"),
        ("n2", {"is_root": False}, "BRING-ACCESS"),
    ],
)
def test_that_what_would_break_a_transfer_is_refused_with_its_code(of: str, more: dict[str, Any], code: str) -> None:
    assert code in _blocks(_facts(of, **more), NOW)


def test_that_the_last_node_that_serves_makes_no_backup() -> None:
    cluster = _away()
    cluster.kill(cluster.hosts["n1"])
    checks = {check.code: check for check in RUN.preflight(facts_of(cluster), NOW)}
    assert checks["BRING-DONOR"].verdict is Verdict.BLOCK


def test_that_what_came_is_judged_anew_and_is_gone_at_the_end_on_scripted_hosts() -> None:
    for inputs in (NOW, HOST):
        bench = Bench(_away(), "rejoin-from-incrementals", dict(inputs))
        bench.begin()
        assert bench.run() is RunState.DONE
        view = bench.engine().view
        ids = [step.step.step_id for step in view.steps]
        assert ids.index("whole") > ids.index("clear-brought-n3") > ids.index("transfer-n3")
        copied = next(step.step for step in view.steps if step.step.step_id == "copy-n3").action
        assert isinstance(copied, Detached)
        assert f"{PLACE}/full" in copied.command.argv
        assert view.obligations == ()
        for host in bench.cluster.hosts.values():
            assert not any("brought" in path for path in host.files)


def test_that_a_run_whose_backup_can_not_be_used_goes_no_further_and_is_taken_back_on_scripted_hosts() -> None:
    facts, begun = _facts(), _plan(_facts(), NOW)
    checks, plan = RUN.continued(facts, dict(begun.inputs), begun)
    assert plan == begun, "nothing lies in the run's own folder"
    assert "BACKUP-FOUND" in {check.code for check in checks if check.verdict is Verdict.BLOCK}


def _ran(program: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ("bash", "-c", program, "pilothouse", *map(str, words)), capture_output=True, text=True, check=False
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    assert _ran(MAKE_PLACE, folder).returncode == 0
    return folder


def _came(place: Path) -> None:
    """What tar unpacks of one folder with one file."""
    (place / ".came/full").mkdir(parents=True)
    (place / ".came/full/ibdata1").write_text("rows")
    digest = hashlib.sha256(b"rows").hexdigest()
    (place / ".came/.manifest").write_text(f"{digest} *full/ibdata1\n")


def test_that_what_came_gets_its_name_only_when_each_file_is_what_was_sent(place: Path) -> None:
    _came(place)
    assert "came: 1 folders" in _ran(TAKE_IN, place, "host", "full").stdout
    assert (place / "full/ibdata1").read_text() == "rows"
    assert _ran(TAKE_IN, place, "host", "full").returncode == 0, "begun again"


@pytest.mark.parametrize("odd", ["changed", "more", "gone"])
def test_that_a_file_that_is_not_what_was_sent_gets_no_name(place: Path, odd: str) -> None:
    _came(place)
    file = place / ".came/full" / ("more" if odd == "more" else "ibdata1")
    file.unlink() if odd == "gone" else file.write_text("other")
    assert _ran(TAKE_IN, place, "host", "full").returncode == 9
    assert not (place / "full").exists()


def test_that_a_backup_made_now_must_call_itself_a_whole_one(place: Path) -> None:
    (place / ".came").mkdir()
    for name, text in (("checkpoints", "backup_type = full-backuped\n"), ("info", "uuid = 1\n")):
        (place / f".came/xtrabackup_{name}").write_text(text)
    assert _ran(TAKE_IN, place, "now", "full").returncode == 9
    (place / ".came/xtrabackup_galera_info").write_text("u:1\n")
    assert _ran(TAKE_IN, place, "now", "full").returncode == 0
    assert (place / "full/xtrabackup_info").exists()


def test_that_only_the_runs_own_folder_is_made_anew_and_removed(tmp_path: Path, place: Path) -> None:
    (place / "full").mkdir()
    assert _ran(MAKE_PLACE, place).returncode == 0
    assert not (place / "full").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine").touch()
    assert _ran(MAKE_PLACE, other).returncode != 0
    assert _ran(CLEAR_PLACE, other).returncode != 0
    assert (other / "mine").exists()
    assert _ran(CLEAR_PLACE, place).returncode == 0
    assert not place.exists()
