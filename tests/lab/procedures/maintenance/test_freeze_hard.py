"""freeze-gcache on Percona's provider in the states that nobody had listed: long ISTs, lost caches, guards, undos."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.maintenance.test_freeze_gcache import INPUTS, OVERRIDE, _frozen_at

OPTION = "gcache.freeze_purge_at_seqno"
MANY = 14_600
CACHE = "/var/lib/gcache"
OWN_VOLUME = "/etc/mysql/mariadb.conf.d/97-own-volume.cnf"


def _status(estate: Estate, host: str, name: str) -> int:
    return int(estate.sql(host, f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1])


def _write(estate: Estate, rows: int, size: int = 100) -> None:
    """Commit so many transactions on f1, one row each."""
    estate.sql("f1", "CREATE TABLE IF NOT EXISTS sbtest.long_ist (id BIGINT PRIMARY KEY AUTO_INCREMENT, t LONGBLOB)")
    one = f"INSERT INTO sbtest.long_ist (t) VALUES (REPEAT('x', {size}));\n"
    estate.host("f1").sh("mysql sbtest", stdin=one * rows, limit_s=300)


def _unit(estate: Estate) -> str:
    listed = estate.host("f1").sh("systemctl list-units --all --plain --no-legend 'pilothouse-release-*'").out
    names = [line.split()[0] for line in listed.splitlines() if " active " in line]
    assert len(names) <= 1, listed
    return names[0] if names else ""


def _release_all(estate: Estate) -> None:
    estate.sql("f1", f"SET GLOBAL wsrep_provider_options='{OPTION}=-1'")


@pytest.fixture(autouse=True)
def nothing_left(freezing: Estate) -> Iterator[None]:
    """A test that failed in the middle leaves no freeze and no guard to the next one."""
    yield
    _release_all(freezing)
    freezing.host("f1").sh("systemctl stop 'pilothouse-release-*'", check=False)


def _description(estate: Estate) -> str:
    return estate.host("f1").sh(f"systemctl show -p Description --value {_unit(estate)}").out.strip()


@pytest.mark.slow
def test_that_an_ist_of_fourteen_thousand_write_sets_from_a_freeze_at_a_multiple_of_1024_is_proven(
    freezing: Estate, freezing_console: Console
) -> None:
    console = freezing_console
    _write(freezing, max(0, 2_100 - _status(freezing, "f1", "wsrep_last_committed")))
    wanted = _status(freezing, "f1", "wsrep_last_committed") // 1024 * 1024
    inputs = {**INPUTS, "mode": "seqno", "seqno": wanted, "away": "10 min"}
    killed = console.killed_run("maintenance=acting", "freeze-gcache", *OVERRIDE, **inputs)
    assert killed.code == KILLED, killed
    assert _frozen_at(freezing, "f1").endswith("K")
    _write(freezing, MANY)
    ran = console("resume", console.runs()[0], "--yes")
    assert ran.code == 0, ran
    view = console.assert_ended(RunState.DONE, ran)
    assert dict(view.kept)["frozen_at"] == str(wanted)
    shown = next(s for s in view.steps if s.step.step_id == "transfer-f3").evidence
    first, last = (int(word) for word in shown[0].partition("write sets ")[2].split(" to "))
    assert last - first + 1 >= MANY, shown
    log = freezing.host("f3").sh("journalctl -u mariadb -o cat --no-pager -n 4000").out
    assert "Receiving IST:" not in log  # a tail of 4,000 lines, as it was read before, has no word of it


def _away(console: Console) -> int:
    """Leave f3 stopped in its maintenance, the console dead; return where it stopped."""
    killed = console.killed_run("maintenance=acting", "freeze-gcache", *OVERRIDE, **{**INPUTS, "away": "10 min"})
    assert killed.code == KILLED, killed
    _write(console.estate, 20)
    return int(dict(console.view().kept)["stopped_at"])


@pytest.mark.slow
def test_that_a_freeze_which_a_colleague_set_behind_the_nodes_stop_is_a_lost_one(
    freezing: Estate, freezing_console: Console
) -> None:
    console = freezing_console
    stopped_at = _away(console)
    freezing.sql("f1", f"SET GLOBAL wsrep_provider_options='{OPTION}={stopped_at + 10}'")
    ran = console("resume", console.runs()[0], "--yes")
    view = console.assert_ended(RunState.UNDONE, ran)  # the ring still had what f3 missed: IST, and all is back
    assert any("no longer has all write sets that f3 missed" in told for told in view.breaches), view.breaches
    assert view.sentence == "All changes of the run were rolled back."


@pytest.mark.slow
def test_that_without_a_cache_that_reaches_back_nothing_is_started_by_sst_before_a_person_typed_it(
    freezing: Estate, freezing_console: Console
) -> None:
    console = freezing_console
    stopped_at = _away(console)
    for name in ("f1", "f2"):  # both donors were restarted by a colleague, and neither kept its cache
        freezing.host(name).sh("systemctl stop mariadb; rm -f /var/lib/mysql/galera.cache; systemctl start mariadb")
        freezing.wait_synced(("f1", "f2"), size=2, limit_s=60)
    refused = console("undo", console.runs()[0], "--yes")
    view = console.view()
    assert view.state is RunState.UNDO_FAILED, refused
    assert f"f3 stopped at {stopped_at}; f1 caches from" in view.sentence
    assert "Starting f3 replaces all its data by SST" in view.sentence
    assert freezing.host("f3").sh("systemctl is-active mariadb", check=False).out.strip() in {"inactive", "failed"}
    assert (_frozen_at(freezing, "f1"), _unit(freezing)) == ("-1", "")
    accepted = console("undo", console.runs()[0], "--yes", "--confirm", "f3")
    view = console.assert_ended(RunState.UNDONE, accepted)
    assert view.sentence.startswith(
        "Everything that can be rolled back was rolled back. This remains: f3 came by SST from "
    ), view.sentence


@contextmanager
def _operator_locked_out(estate: Estate) -> Iterator[None]:
    """The account for changes gets in nowhere; reading goes on."""
    estate.sql("f1", "ALTER USER 'pilot'@'%' ACCOUNT LOCK")
    try:
        yield
    finally:
        estate.sql("f1", "ALTER USER 'pilot'@'%' ACCOUNT UNLOCK")


@pytest.mark.slow
def test_that_a_failed_undo_leaves_the_guard_where_the_cache_is_frozen_and_a_release_then_ends_the_run(
    freezing: Estate, freezing_console: Console
) -> None:
    console = freezing_console
    inputs = {**INPUTS, "drain": "no"}
    killed = console.killed_run("maintenance=acting", "freeze-gcache", *OVERRIDE, **inputs)
    assert killed.code == KILLED, killed
    with _operator_locked_out(freezing):
        failed = console("undo", console.runs()[0], "--yes")
        console_view = console.view()
        assert console_view.state is RunState.UNDO_FAILED, failed
        assert int(_frozen_at(freezing, "f1").replace("K", "000")) >= 0
        assert _unit(freezing) != ""
        assert set(console.open_obligations()) == {"freeze:f1", "guard:f1"}
    released = console("undo", console.runs()[0], "--release", "--yes")
    view = console.assert_ended(RunState.UNDONE, released)
    assert view.sentence == "All changes of the run were rolled back."
    assert (_frozen_at(freezing, "f1"), _unit(freezing)) == ("-1", "")
    assert view.locked == ()
    freezing.wait_synced(size=3)


@pytest.mark.slow
def test_that_a_guard_that_was_left_is_replaced_and_the_new_one_ends_the_freeze_at_the_floor_of_the_disk(
    freezing: Estate, freezing_console: Console
) -> None:
    console = freezing_console
    uuid = freezing.sql("f1", "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'")[0][1]
    left = f"pilothouse-release-{uuid[:8]}"
    freezing.host("f1").sh(f"systemd-run --unit={left} --on-active=9h true")
    killed = console.killed_run("maintenance=acting", "freeze-gcache", *OVERRIDE, **{**INPUTS, "away": "10 min"})
    assert killed.code == KILLED, killed
    assert _unit(freezing) == f"{left}.service"
    numbers = "after 4200 s, or below 100000000 bytes at /var/lib/mysql"
    assert _description(freezing) == f"Pilothouse releases the gcache {numbers}"
    freezing.fill("f1", leave_mb=60)
    try:
        while_asserts(lambda: _released(freezing), limit_s=40)
    finally:
        freezing.unfill("f1")
    ran = console("undo", console.runs()[0], "--yes")
    console.assert_ended(RunState.UNDONE, ran)
    freezing.wait_synced(size=3)


@contextmanager
def _cache_on_a_volume_of_its_own(estate: Estate) -> Iterator[None]:
    """Move f1's cache to another file system: the data's folder then says nothing of a freeze's room."""
    host = estate.host("f1")
    options = f'[mysqld]\nwsrep_provider_options = "gcache.size=128M;gcache.page_size=16M;gcache.dir={CACHE}"\n'
    host.sh(f"mkdir -p {CACHE}; mount -t tmpfs -o size=600m tmpfs {CACHE}; chown mysql: {CACHE}")
    try:
        estate.stop("f1")
        host.sh(f"cat > {OWN_VOLUME}", stdin=options)
        estate.start("f1")
        yield
    finally:
        estate.stop("f1")
        host.sh(f"rm -f {OWN_VOLUME}; umount {CACHE}; rmdir {CACHE}")
        estate.start("f1")
        estate.wait_synced(size=3)


@pytest.mark.slow
def test_that_the_room_of_a_cache_on_a_volume_of_its_own_is_what_is_checked_watched_and_guarded(
    freezing: Estate, freezing_console: Console
) -> None:
    console = freezing_console
    with _cache_on_a_volume_of_its_own(freezing):
        freezing.wait_synced(size=3)
        planned = console.run("freeze-gcache", *OVERRIDE, "--json", **{**INPUTS, "floor": "590 MB"})
        assert planned.code == 1, planned
        document = planned.document()
        room = {c["code"]: c["evidence"] for c in document["checks"] if c["code"] in document["refused"]}
        assert any(CACHE in evidence for evidence in room.values()), room
        killed = console.killed_run("maintenance=acting", "freeze-gcache", *OVERRIDE, **{**INPUTS, "away": "10 min"})
        assert killed.code == KILLED, killed
        assert f"or below 100000000 bytes at {CACHE}" in _description(freezing)
        host = freezing.host("f1")
        left = int(host.sh(f"df -B1 --output=avail {CACHE} | tail -n 1").out)
        host.sh(f"fallocate -l {left - 60_000_000} {CACHE}/filled")
        while_asserts(lambda: _released(freezing), limit_s=40)
        host.sh(f"rm {CACHE}/filled")
        ran = console("undo", console.runs()[0], "--yes")
        console.assert_ended(RunState.UNDONE, ran)


def _released(estate: Estate) -> None:
    assert _frozen_at(estate, "f1") == "-1"
