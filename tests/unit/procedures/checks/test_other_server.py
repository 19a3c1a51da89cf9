"""A server that somebody ran on a stopped node's data by hand, with no binary log: what is left is a file's time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.connections.ports import Output
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.facts.galera.other_server import NotRead, OtherServer, around_read, before_read, mtimes_read, since_read
from services.procedures.looking.other_server import read_other_server
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.pasts.histories import compared
from services.procedures.plan.pasts.histories_model import Side
from tests.unit.procedures.host_of import host_of
from tests.unit.recorded.histories_recorded import s1, s3_at

DATA = "/var/lib/mysql"
POOL = f"{DATA}/ib_buffer_pool"
STOPPED, BY_HAND = 1795374431, 1795374439
STOP = f"""\
{STOPPED}.156729 s3 mariadbd[159]: 2026-11-22 19:07:11 0 [Note] /usr/sbin/mariadbd: Shutdown complete
{STOPPED}.163734 s3 systemd[1]: mariadb.service: Deactivated successfully.
{STOPPED}.164119 s3 systemd[1]: Stopped mariadb.service - MariaDB 10.11.18 database server.
"""
"""Recorded: MariaDB 10.11.18, `systemctl stop mariadb`; ib_buffer_pool was written at .096."""
START = "1795374610.1 s3 systemd[1]: Starting mariadb.service - MariaDB 10.11.18 database server...\n"
FAILED = START + "1795374611.9 s3 systemd[1]: mariadb.service: Failed with result 'exit-code'.\n"
JOINED = START + (
    "1795374614.0 s3 mariadbd[915]: 2026-11-22 19:10:14 2 [Note] WSREP: Synchronized with group, "
    "ready for connections\n"
)
SEEN = OtherServer(float(BY_HAND), STOPPED + 0.164119)
SENTENCE = (
    "s3: a server whose log is not this one was shut down on its data at 2026-11-22 19:07:19 UTC, after the last line "
    "of its own log (2026-11-22 19:07:11 UTC): what it wrote is in no log that was read"
)


class Host:
    """Answers as journalctl and stat do; every read is one of the registry."""

    def __init__(self, written: int | None, journal: str = "", **files: int) -> None:
        self.mtimes = {POOL: written} | {f"/var/log/{name}.log": at for name, at in files.items()}
        self.lines = [line for line in journal.splitlines(keepends=True) if line]
        self.asked: list[str] = []

    def __call__(self, read: CommandRead, limit_s: float) -> Output | None:
        argv = command_of(read).argv
        self.asked.append(argv[0])
        if argv[0] == "stat":
            there = [path for path in argv[4:] if self.mtimes.get(path) is not None]
            text = "".join(f"{self.mtimes[path]} {path}\n" for path in there)
            return Output(0 if len(there) == len(argv[4:]) else 1, text.encode(), b"")
        written = self.mtimes[POOL] or 0
        if read == around_read("mariadb.service", written):
            found = [line for line in self.lines if written - 5 <= float(line.split()[0]) <= written + 1][-1:]
        elif read == before_read("mariadb.service", written):
            found = [line for line in self.lines if float(line.split()[0]) <= written - 5][-1:]
        else:
            assert read == since_read("mariadb.service", written)
            found = [line for line in self.lines if float(line.split()[0]) >= written] or ["-- No entries --\n"]
        return Output(0, "".join(found).encode(), b"")


def s3(*options: tuple[str, str], **more: object) -> HostFacts:
    given = tuple(("mysqld", name, value) for name, value in options)
    known = {"unit_name": "mariadb.service", "data_folder_path": DATA, "options_given": given, "server_up": False}
    return host_of("s3", **(known | more))


# -- what is read ------------------------------------------------------------------------------------------------------


def test_that_a_shutdown_that_the_journal_has_no_line_of_is_another_server_s() -> None:
    assert read_other_server(s3(), Host(BY_HAND, STOP)) == SEEN


def test_that_a_start_that_failed_afterwards_does_not_hide_it() -> None:
    assert read_other_server(s3(), Host(BY_HAND, STOP + FAILED)) == SEEN


@pytest.mark.parametrize(
    ("written", "journal"),
    [
        pytest.param(STOPPED, STOP, id="its own stop"),
        pytest.param(STOPPED, STOP + FAILED, id="its own stop, then a start that failed"),
        pytest.param(STOPPED - 86_400, STOP, id="killed, or without a dump at its shutdown"),
        pytest.param(BY_HAND, "", id="a journal that was lost"),
        pytest.param(BY_HAND, FAILED, id="a journal that begins later"),
        pytest.param(STOPPED - 60, STOP, id="its own stop, slow, with a log of another name"),
        pytest.param(BY_HAND, STOP + JOINED, id="it was Synced since"),
        pytest.param(STOPPED + 60, STOP.replace("Stopped", "Starting") + STOP.replace(str(STOPPED), "1795374600"),
                     id="written by a transfer, hours long, while its own server ran"),
    ],
)  # fmt: skip
def test_that_nothing_is_told_of(written: int, journal: str) -> None:
    assert read_other_server(s3(), Host(written, journal)) is None


def test_that_a_log_file_s_own_time_tells_and_a_rotated_one_is_only_newer() -> None:
    host = s3(("log_error", "/var/log/db.log"))
    assert read_other_server(host, Host(BY_HAND, db=STOPPED)) == OtherServer(float(BY_HAND), float(STOPPED))
    for at in (BY_HAND - 4, BY_HAND, BY_HAND + 86_400):
        assert read_other_server(host, Host(BY_HAND, db=at)) is None
    assert read_other_server(host, Host(BY_HAND)) is None
    by_its_unit = STOP.replace(str(STOPPED), str(BY_HAND))  # the log that its options name is not the one that it wrote
    assert read_other_server(host, Host(BY_HAND, by_its_unit, db=STOPPED)) is None


@pytest.mark.parametrize("silent", ["stat", "around", "before", "since"])
@pytest.mark.parametrize("refused", [False, True])
def test_that_a_read_without_an_answer_is_told_as_not_read_and_is_no_evidence_of_one_past(
    silent: str, *, refused: bool
) -> None:
    """On a host under load journalctl took longer than its limit: HISTORY said 'same', and its rows were forked."""
    road = Host(BY_HAND, STOP)
    asked = {
        "around": around_read("mariadb.service", BY_HAND),
        "before": before_read("mariadb.service", BY_HAND),
        "since": since_read("mariadb.service", BY_HAND),
    }

    def run(read: CommandRead, limit_s: float) -> Output | None:
        if read == asked.get(silent) or (silent == "stat" and command_of(read).argv[0] == "stat"):
            return Output(1, b"", b"Permission denied") if refused else None
        return road(read, limit_s)

    told = read_other_server(s3(), run)
    if silent == "stat" and refused:  # as where the file is not there
        assert told is None
        return
    assert isinstance(told, NotRead)
    sentence = told.told("s3")
    assert "could not be read: whether a server whose log is not this one ran on its data is not known" in sentence


def test_that_the_file_goes_by_its_option_s_name() -> None:
    road = Host(None, STOP)
    assert read_other_server(s3(), road) is None
    assert road.asked == ["stat"]
    road.mtimes = {POOL: BY_HAND, f"{DATA}/warm": BY_HAND}
    assert read_other_server(s3(("innodb_buffer_pool_filename", "warm")), road) == SEEN


def test_that_a_server_that_runs_and_a_unit_of_another_name_are_not_asked() -> None:
    road = Host(BY_HAND, STOP)
    assert read_other_server(s3(server_up=True), road) is None
    assert read_other_server(s3(data_folder_path=""), road) is None
    assert not road.asked
    assert read_other_server(s3(unit_name="mysql.service"), road) is None


def test_that_its_reads_are_in_the_registry() -> None:
    command_of(mtimes_read(POOL, "/var/log/x.log"))
    for read in (around_read, before_read, since_read):
        for at in (0.0, 1795374439.5):
            command_of(read("mariadb.service", at))


# -- what is made of it ------------------------------------------------------------------------------------------------


def ran_by_hand(side: Side) -> Side:
    return replace(side, trace=replace(side.trace, other_server=SEEN))


def test_that_one_past_by_binary_logs_and_views_is_not_known_where_another_server_was_shut_down() -> None:
    joiner = s3_at(19, of_fork=False)
    assert compared(joiner, s1(joiner)).outcome == "same"
    found = compared(ran_by_hand(joiner), s1(joiner))
    assert found.outcome == "not known"
    assert found.missing == (SENTENCE,)
    assert found.evidence.startswith("what was read shows one past (the binary logs of s3 and s1 agree at")


def test_that_it_counts_of_either_node_that_is_stopped_and_of_none_that_serves() -> None:
    joiner = s3_at(19, of_fork=False)
    donor = s1(joiner, seqno=19, serves=False)
    before = compared(joiner, donor)
    found = compared(joiner, ran_by_hand(donor))
    assert found.outcome == "not known"
    assert found.missing[0] == SENTENCE.replace("s3", "s1")
    assert compared(joiner, ran_by_hand(replace(donor, serves=True))).missing != found.missing
    assert before != found
    assert compared(joiner, ran_by_hand(s1(joiner))).outcome == "same"


def test_that_one_past_is_not_known_either_where_that_could_not_be_read() -> None:
    joiner = s3_at(19, of_fork=False)
    unread = replace(joiner, trace=replace(joiner.trace, other_server=NotRead("its journal")))
    found = compared(unread, s1(joiner))
    assert found.outcome == "not known"
    assert "and whether another server ran on the data behind it is not known" in found.evidence


def test_that_a_fork_stays_a_fork() -> None:
    joiner = s3_at(25)
    assert compared(ran_by_hand(joiner), s1(joiner)) == compared(joiner, s1(joiner))
