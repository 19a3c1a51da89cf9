"""GTID arithmetic, transfers out of logs, and the host: on real text and against a slow, obvious computation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.connections.ports import Rows
from services.facts.logs.error_log import parse_transfers, status_progress
from services.facts.machine.machine import (
    clock_offset,
    parse_datadir,
    parse_df,
    parse_du,
    parse_host_files,
    parse_process,
    parse_units,
)
from services.facts.numeric import replication_values
from services.facts.replication import gtid
from services.facts.replication.replication import dumping, parse_channels, parse_replication, replication_problems
from tests.unit.recorded.replies import HERE, load, rows

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


@pytest.mark.parametrize(
    ("ahead", "behind", "missing"),
    [
        ("0-1-100", "0-1-90", 10),
        ("0-1-100,1-2-5", "0-1-100", 5),
        ("0-1-90", "0-2-100", 0),
        (f"{UUID}:1-100", f"{UUID}:1-40:50-100", 9),
        (f"{UUID}:1-5:tag:1-3", f"{UUID}:1-5", 3),
        (f"{UUID}:1-5,\n{UUID[:-1]}3:1", f"{UUID}:1-5", 1),
        ("", "0-1-1", None),
        ("garbage", "0-1-1", None),
        ("0-1-1", "nonsense", None),
        ("0-1-99999999999999999999999", "0-1-1", None),
    ],
)
def test_that_a_gap_is_what_is_missing(ahead: str, behind: str, missing: int | None) -> None:
    assert gtid.gap(ahead, behind) == missing


def test_that_what_a_real_mysql_replica_has_alone_is_counted_and_named() -> None:
    hosts = load("situations/mysql-replica-broken.json")["hosts"]
    executed = {h: dict(v["queries"]["SHOW GLOBAL VARIABLES"]["rows"])["gtid_executed"] for h, v in hosts.items()}
    replica, source = gtid.parse(executed["m2"]), gtid.parse(executed["m1"])
    assert replica is not None
    assert source is not None
    found = replica.subtract(source)
    assert found.count() == gtid.gap(executed["m2"], executed["m1"]) == 1
    assert str(found).startswith("f954f0d9-")


intervals = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 8)).map(lambda p: (p[0], p[0] + p[1])), max_size=6)


@given(intervals, intervals)
def test_that_subtraction_agrees_with_counting_one_by_one(
    mine: list[tuple[int, int]], theirs: list[tuple[int, int]]
) -> None:
    def text(parts: list[tuple[int, int]]) -> str:
        return ",".join(f"{UUID}:{low}-{high}" for low, high in parts)

    left, right = gtid.parse(text(mine)), gtid.parse(text(theirs))
    assert left is not None
    assert right is not None
    slow = {n for low, high in mine for n in range(low, high + 1)} - {
        n for low, high in theirs for n in range(low, high + 1)
    }
    rest = left.subtract(right)
    assert rest.count() == len(slow)
    assert {n for part in rest.groups.values() for low, high in part for n in range(low, high + 1)} == slow
    assert right.contains(left) == (not slow)


def _large(number: int, tag: str = "", size: int = 99_000) -> str:
    """Return a set of so many characters; each number gives another."""
    parts = (f"{tag}{number + n}:1" if tag else str(2 * (number + n)) for n in range(16_000))
    return f"{UUID}:{':'.join(parts)}"[:size].rpartition(":")[0]


@pytest.mark.parametrize("size", [99_000, 32_000])
@pytest.mark.parametrize("tag", ["", "t"])
def test_that_a_set_that_is_too_large_is_not_known_with_the_reason_and_nothing_is_missing_by_it(
    tag: str, size: int
) -> None:
    text = _large(1, tag, size)
    read = parse_replication(None, processes=Rows((), ()), variables={"gtid_executed": text})
    assert [p.code for p in replication_problems(read)] == ["gtid-too-large"]
    assert gtid.parse(text) is None
    assert (gtid.gap(text, ""), gtid.gap(f"{UUID}:1-5", text)) == (None, None)
    assert gtid.parse(gtid.TOO_LARGE) is None
    holes = ":".join(str(2 * n) for n in range(1, 4000))
    whole = gtid.parse(f"{UUID}:{holes}")
    assert whole is not None
    assert whole.count() == 3999


def _channels(number: int, large: int) -> Rows:
    row = ("h", f"c{number}", "Yes", "Yes")
    columns = ("Source_Host", "Channel_Name", "Replica_IO_Running", "Replica_SQL_Running")
    sets = tuple((*row[:1], f"c{n}", *row[2:], _large(large + n), _large(large + n, "t")) for n in range(number))
    return Rows((*columns, "Retrieved_Gtid_Set", "Executed_Gtid_Set"), sets)


def test_that_the_sets_of_one_server_have_a_room_and_what_is_beyond_is_told_as_not_known() -> None:
    read = parse_replication(_channels(30, 10_000), variables={"gtid_executed": f"{UUID}:1-7"})
    assert read is not None
    assert {(c.gtid_received, c.gtid_executed) for c in read.channels} == {(gtid.TOO_LARGE, gtid.TOO_LARGE)}
    assert read.gtid_executed == f"{UUID}:1-7"
    (problem,) = replication_problems(read)
    assert (problem.part, problem.code) == ("gtid", "gtid-too-large")
    assert "60 of its GTID sets" in problem.sentence
    assert not [key for key in replication_values(read) if key.endswith("gtid_gap")]
    assert replication_problems(replace(read, channels=())) == ()


def test_that_one_set_that_every_channel_repeats_is_counted_once_and_many_that_differ_are_not_kept() -> None:
    columns = ("Source_Host", "Channel_Name", "Retrieved_Gtid_Set", "Executed_Gtid_Set")
    executed = f"{UUID}:" + ":".join(str(2 * n) for n in range(1, 3000))
    same = Rows(columns, tuple(("h", f"c{n}", f"{UUID}:{n}", executed) for n in range(1, 40)))
    read = parse_replication(same)
    assert read is not None
    assert {c.gtid_executed for c in read.channels} == {executed}
    others = Rows(columns, tuple(("h", f"c{n}", f"{UUID}:{n}", f"{executed}:{9000 + 2 * n}") for n in range(1, 40)))
    read = parse_replication(others)
    assert read is not None
    assert sum(len(c.gtid_executed) for c in read.channels) <= gtid.MOST_OF_A_SERVER
    assert gtid.TOO_LARGE in {c.gtid_executed for c in read.channels}


def test_that_sets_that_are_new_each_time_take_a_bounded_room_in_memory() -> None:
    for number in range(400):
        assert gtid.parse(f"{UUID}:" + ":".join(str(2 * n) for n in range(number + 1, number + 3000))) is not None
    assert gtid.cached_bytes() < 5_000_000


@given(st.text(max_size=60))
def test_that_no_text_breaks_gtids_and_logs(text: str) -> None:
    gtid.parse(text)
    gtid.gap(text, text)
    parse_transfers(
        [text, f"Member 0.0 ({text}) requested state transfer from 'x'. Selected 1.0 (b)(SYNCED) as donor."]
    )
    status_progress(text)
    parse_df(text)
    parse_units(text)
    parse_host_files(text)
    parse_process(text)
    parse_datadir(text)
    parse_du(text)
    clock_offset(text, 1.0, 2.0)


def _log(situation: str, host: str) -> list[str]:
    commands = load(f"situations/{situation}.json")["hosts"][host]["commands"]
    text: str = next(c["stdout"] for words, c in commands.items() if words.startswith("journalctl"))
    return text.splitlines()


def test_that_a_real_sst_is_told_by_its_donor_and_its_joiner() -> None:
    for host in ("n1", "n2"):
        transfer = parse_transfers(_log("galera-sst", host))[-1]
        assert (transfer.joiner_name, transfer.donor_name, transfer.kind, transfer.method) == (
            "n2",
            "n1",
            "SST",
            "mariabackup",
        )
        assert transfer.ended is None
    ended = parse_transfers(_log("galera-sst-done", "n2"))[-1]
    assert (ended.kind, ended.failed, ended.donor_done) == ("SST", False, True)
    assert ended.ended is not None
    assert ended.since is not None
    assert 5 < ended.ended - ended.since < 30


def test_that_a_real_ist_has_its_seqnos() -> None:
    found = next(t for t in parse_transfers(_log("galera-sst", "n3")) if t.joiner_name == "n3")
    assert found.kind == "IST"
    assert found.last_seqno == found.current_seqno


def test_that_the_old_format_of_codership_is_read_with_the_hosts_zone() -> None:
    lines = (HERE / "codership-ist.log").read_text().splitlines()
    (found,) = parse_transfers(lines, utc_offset_s=3600.0)
    assert (found.joiner_name, found.donor_name) == ("node01_dpadb1", "node02_dpadb2")
    assert (found.first_seqno, found.last_seqno) == (557847539, 557849318)
    assert (found.since, found.ended) == (1422314355.0, 1422314356.0)


def test_that_a_clock_offset_moves_a_logs_times_to_the_workstation() -> None:
    said = "requested state transfer from '*any*'. Selected 1.0 (n3)(SYNCED) as donor."
    line = f"1795254575.6 n2 mariadbd[1]: x WSREP: Member 2.0 (n2) {said}"
    assert parse_transfers([line], clock_offset_s=5.0)[0].since == pytest.approx(1795254570.6)


def test_that_a_failed_transfer_and_a_second_attempt_are_two() -> None:
    ask = "{} h m[1]: WSREP: Member 2.0 (j) requested state transfer from '*any*'. Selected 1.0 (d)(SYNCED) as donor."
    failed = "1000000002.0 h m[1]: WSREP: 1.0 (d): State transfer to 2.0 (j) failed: Broken pipe"
    first, second = parse_transfers([ask.format("1000000001.0"), failed, ask.format("1000000005.0")])
    assert (first.failed, first.ended) == (True, 1000000002.0)
    assert (second.failed, second.ended) == (False, None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Receiving IST... 45.5% (10/22 events) complete.", ("IST", 0.455)),
        ("WSREP state transfer (role joiner) ongoing", ("SST", None)),
        ("Taking your SQL requests now...", ("", None)),
        ("250 % done", ("", None)),
    ],
)
def test_that_a_status_text_tells_kind_and_share(text: str, found: tuple[str, float | None]) -> None:
    assert status_progress(text) == found


def test_that_a_real_host_is_read() -> None:
    commands = load("situations/galera-healthy.json")["hosts"]["n1"]["commands"]
    text = next(c["stdout"] for words, c in commands.items() if words.startswith("cat"))
    found = parse_host_files(text)
    assert (found.os, found.hostname, found.cores) == ("Debian GNU/Linux 12 (bookworm)", "n1", 2)
    assert len(found.machine_id) == 32
    assert (found.memory or 0) > 10**9
    assert (
        parse_df(next(c["stdout"] for words, c in commands.items() if words.startswith("df")))[0].mount
        == "/var/lib/mysql"
    )
    assert parse_process(next(c["stdout"] for words, c in commands.items() if words.startswith("ps")))[0] == "S"
    unit = parse_units(next(c["stdout"] for words, c in commands.items() if words.startswith("systemctl")))
    assert (unit.unit, unit.unit_state) == ("mariadb.service", "active/running")


def test_that_a_clock_is_measured_in_the_middle_of_the_round_trip() -> None:
    assert clock_offset("105.5", 100.0, 101.0) == pytest.approx(5.0)
    assert clock_offset("105.N", 100.0, 101.0) == pytest.approx(5.0)
    assert clock_offset("", 100.0, 101.0) is None
    assert clock_offset("105", 101.0, 100.0) is None


def test_that_old_and_new_column_names_give_the_same_channel() -> None:
    new = Rows(
        ("Source_Host", "Replica_IO_Running", "Seconds_Behind_Source", "Channel_Name"), (("h", "Yes", None, "c"),)
    )
    old = Rows(
        ("Master_Host", "Slave_IO_Running", "Seconds_Behind_Master", "Connection_name"), (("h", "Yes", None, "c"),)
    )
    assert parse_channels(new) == parse_channels(old)
    assert parse_channels(new)[0].seconds_behind is None


def test_that_channels_of_group_replication_are_no_sources() -> None:
    found = Rows(("Source_Host", "Channel_Name"), (("h", "group_replication_applier"), ("", "x"), ("h", "real")))
    assert [c.name for c in parse_channels(found, grouped=True)] == ["real"]


@pytest.mark.parametrize("name", ["group_replication_applier", "group_replication_recovery"])
@pytest.mark.parametrize("column", ["Channel_Name", "Connection_name"])
def test_that_a_channel_with_the_name_of_a_group_s_own_is_a_channel_where_no_group_is_configured(
    name: str, column: str
) -> None:
    stopped = Rows(("Master_Host", "Slave_SQL_Running", column), (("h", "No", name),))
    read = parse_replication(stopped, variables={"version": "11.4.5-MariaDB"})
    assert read is not None
    assert [(c.name, c.sql_running) for c in read.channels] == [(name, "No")]
    group = {"group_replication_group_name": "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"}
    inside = parse_replication(stopped, variables=group)
    assert inside is not None
    assert inside.channels == ()


def test_that_real_mysql_replication_is_read() -> None:
    query = load("situations/mysql-replica-broken.json")["hosts"]["m2"]["queries"]["SHOW REPLICA STATUS"]
    (found,) = parse_channels(rows(query))
    assert (found.name, found.source_port, found.sql_errno, found.seconds_behind) == ("main", 33961, 1062, None)
    assert gtid.gap(found.gtid_received, found.gtid_executed) == 2
    assert found.gtid_mode == "AUTO"


def test_that_dump_threads_tell_the_replicas_where_the_right_is_missing() -> None:
    processes = load("situations/async-healthy.json")["hosts"]["src"]["queries"]["SHOW PROCESSLIST"]
    assert sorted(r.host for r in dumping(rows(processes))) == ["10.213.2.22", "10.213.2.23"]


def test_that_nothing_asked_is_nothing_known() -> None:
    assert parse_replication(None) is None
