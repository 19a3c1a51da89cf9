"""A certificate of state transfers that runs out is told on the node, weeks before, by the host's own clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.ports import Output, Rows, Stream
from services.connections.reads import commands
from services.connections.reads.read import CommandRead, SqlRead
from services.errors import SudoFailed
from services.facts.logs.reads import log_facts
from services.facts.model import NodeFacts, TransferCertificate
from services.types import Health
from tests.unit.discovery import scenes as s
from tests.unit.pairs import DAY, NOW, Authority


def judged(left_s: float | None, offset: float = 0.0, **view: object) -> tuple[Health, str]:
    one = s.member(1, **view)
    assert one.machine is not None
    transfer = None if left_s is None else TransferCertificate(s.AT + 0.5 + left_s)
    machine = replace(one.machine, transfer=transfer, clock_offset_s=offset)
    made = s.estate(replace(one, machine=machine), s.member(2), s.member(3))
    node = next(n for c in made.clusters for n in c.nodes if n.node_id.endswith("db1") or n.name == "db1")
    return node.health, node.reason


@pytest.mark.parametrize(
    ("left_s", "health", "told"),
    [
        (None, Health.GOOD, ""),
        (30.1 * DAY, Health.GOOD, ""),
        (29.5 * DAY, Health.WARN, "expires in 29 days (encrypt-sst renews it)"),
        (3600.0, Health.WARN, "expires in 1 h"),
        (-3 * DAY, Health.WARN, "expired 3 days ago: no node can join"),
    ],
)
def test_that_it_is_told_thirty_days_before_and_after_its_end(left_s: float | None, health: Health, told: str) -> None:
    found, reason = judged(left_s)
    assert (found, told in reason) == (health, True), reason
    assert bool(reason) is bool(told)


def test_that_the_hosts_own_clock_decides_and_worse_things_stay_the_first() -> None:
    assert judged(30.1 * DAY, offset=DAY)[0] is Health.WARN
    health, reason = judged(DAY, cluster_status="non-Primary")
    assert health is Health.BAD
    assert reason.index("sees") < reason.index("certificate")


class Session:
    """An Observer session that knows one read."""

    host, has_ssh, has_sql, kind = "n1", True, True, "mysql"

    def __init__(self, answer: Output | SudoFailed) -> None:
        self.answer = answer

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        if read != commands.TRANSFER_CERTS:
            return Output(1, b"", b"")
        if isinstance(self.answer, SudoFailed):
            raise self.answer
        return self.answer

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        raise NotImplementedError(read, limit_s)

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        raise NotImplementedError(limit_s)

    def stream(self, read: CommandRead) -> Stream:
        raise NotImplementedError(read)

    def try_now(self) -> None:
        """See ObserverSession."""

    def close(self) -> None:
        """See ObserverSession."""


def _read(answer: Output | SudoFailed, known: NodeFacts | None = None) -> tuple[float | None, str]:
    machine = log_facts(Session(answer), known or s.member(1), ManualClock()).machine
    assert machine is not None
    return (machine.transfer.ends, machine.transfer.name) if machine.transfer is not None else (None, "")


def test_that_the_earliest_end_is_read_and_no_answer_is_no_end() -> None:
    authority = Authority(ends=NOW + 9 * DAY)
    cert, _ = authority.pair("nodes")
    text = f"encrypt|4\nca|there\nbegin|ca\n{authority.pem}\nend|ca\ncert|there\nbegin|cert\n{cert}\nend|cert\n"
    assert _read(Output(0, text.encode(), b"")) == (NOW + 9 * DAY, "nodes")
    for answer in (Output(0, b"encrypt|0\n", b""), Output(1, text.encode(), b""), SudoFailed("No sudo.", host="n1")):
        assert _read(answer) == (None, "")
    assert _read(Output(0, text.encode(), b""), replace(s.member(1), galera=None)) == (None, "")


def test_that_a_certificate_that_can_not_be_read_here_is_not_said_to_be_none() -> None:
    authority = Authority(ends=NOW + 9 * DAY)
    cert, _ = authority.pair("nodes")
    odd = cert.replace(cert.split("\n")[2], cert.split("\n")[2][::-1])
    text = f"encrypt|4\nca|there\nbegin|ca\n{authority.pem}\nend|ca\ncert|there\nbegin|cert\n{odd}\nend|cert\n"
    machine = log_facts(Session(Output(0, text.encode(), b"")), s.member(1), ManualClock()).machine
    assert machine is not None
    assert machine.transfer is None


def test_that_an_encryption_without_its_certificate_is_told_and_none_is_not() -> None:
    for text, unread in (("encrypt|4\nca|absent\ncert|absent\n", True), ("encrypt|0\n", False)):
        machine = log_facts(Session(Output(0, text.encode(), b"")), s.member(1), ManualClock()).machine
        assert machine is not None
        assert (machine.transfer == TransferCertificate()) is unread
    one = s.member(1)
    assert one.machine is not None
    made = s.estate(
        replace(one, machine=replace(one.machine, transfer=TransferCertificate())), s.member(2), s.member(3)
    )
    node = next(n for c in made.clusters for n in c.nodes if n.name == "db1")
    assert (node.health, "its state transfers use a certificate that is missing or invalid" in node.reason) == (
        Health.WARN,
        True,
    )


def test_that_a_certificate_without_a_ca_by_name_runs_out_by_itself_and_one_that_was_not_read_says_nothing() -> None:
    """encrypt = 3 needs no tca (MariaDB KB, "mariadb-backup SST Method", TLS); root_squash shows nothing."""
    cert, _ = Authority(ends=NOW + 9 * DAY).pair("nodes", ends=NOW + 5 * DAY)
    own = f"cert|there\nbegin|cert\n{cert}\nend|cert\n"
    assert _read(Output(0, f"encrypt|3\nca|unnamed\n{own}".encode(), b"")) == (NOW + 5 * DAY, "nodes")
    for text in (
        f"encrypt|4\nca|unread\n{own}",
        "encrypt|3\nca|unnamed\ncert|unnamed\n",
        "encrypt|4\nca|there\ncert|unread\n",
    ):
        machine = log_facts(Session(Output(0, text.encode(), b"")), s.member(1), ManualClock()).machine
        assert machine is not None
        assert machine.transfer is None
