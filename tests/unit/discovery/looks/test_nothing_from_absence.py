"""Every read of a look, answered with nothing, a refusal, garbage: no alarm follows from it, and no 'good' rests on it.

The answers are recorded ones of real healthy estates, one read at a time replaced.
"""

from __future__ import annotations

from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.ports import Output, Rows
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.registry import statement_of
from services.discovery.looks.probe import probe
from services.discovery.model import EstateSnapshot
from services.discovery.snapshot import updated_estate
from services.errors import QueryFailed, TimedOut
from services.facts.server.dialect import dialect_of
from services.types import Health
from tests.unit.recorded.replies import ReplaySession, load

HEALTHY = ("galera-healthy", "async-healthy", "mysql-replica")
STATUS = "SHOW GLOBAL STATUS"
GARBAGE = "\xff garbage ; = : / 12"
COMMANDS: dict[str, Output] = {
    "nothing": Output(0, b"", b""),
    "nothing, 1": Output(1, b"", b""),
    "denied": Output(1, b"", b"Permission denied\n"),
    "no such program": Output(127, b"", b"sh: not found\n"),
    "garbage": Output(0, GARBAGE.encode("latin-1") + b"\n\x00\n-\n0\n", b""),
}
ODD = (*COMMANDS, "late")
SERVES = {STATUS, "SHOW GLOBAL VARIABLES"}
"""Whether a server serves is told by these: one that is late with them, while its process is seen, is an alarm."""


class Odd(ReplaySession):
    """A recorded host that answers one read oddly."""

    def __init__(self, name: str, recorded: dict[str, Any], what: str, how: str) -> None:
        super().__init__(name, recorded)
        self.what, self.how = what, how

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        answer = super().run(read, limit_s=limit_s)
        if self.asked[-1] != self.what:
            return answer
        if self.how == "late":
            raise TimedOut("No answer.", host=self.host)
        return COMMANDS[self.how]

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        answer = super().query(read, limit_s=limit_s)
        if statement_of(read) != self.what:
            return answer
        return Rows(answer.columns, tuple((GARBAGE,) * len(answer.columns) for _ in self._kept(answer.rows)))

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        answer = super().status(limit_s=limit_s)
        return answer if self.what != STATUS else dict.fromkeys(self._kept(answer), GARBAGE)

    def _kept(self, rows: Any) -> Any:
        if self.how == "late":
            raise TimedOut("No answer.", host=self.host)
        if self.how in {"denied", "no such program"}:
            raise QueryFailed("Access denied.", host=self.host)
        return rows if self.how == "garbage" else ()


def looked(name: str, victim: str = "", what: str = "", how: str = "") -> tuple[EstateSnapshot, list[str]]:
    """Return the estate, and what the victim was asked."""
    recorded = load(f"situations/{name}.json")
    facts, asked = {}, []
    for host, answers in recorded["hosts"].items():
        session = Odd(host, answers, what if host == victim else "", how)
        facts[host] = probe(session, ManualClock(recorded["at"]), address=answers["address"])
        asked += session.asked if host == victim else []
    return updated_estate(None, facts, recorded["at"]), list(dict.fromkeys(asked))


def reads() -> list[tuple[str, str, str]]:
    """Return every read of every host of the healthy estates: estate, host, text of the read."""
    return [
        (name, host, what)
        for name in HEALTHY
        for host in load(f"situations/{name}.json")["hosts"]
        for what in sorted(looked(name, host)[1])  # both ways are asked at once: in no order
    ]


READS = reads()


def test_that_the_estates_are_well_and_every_read_is_tried() -> None:
    assert len(READS) > 70
    for name in HEALTHY:
        assert {n.health for c in looked(name)[0].clusters for n in c.nodes} == {Health.GOOD}


@pytest.mark.parametrize("how", ODD)
@pytest.mark.parametrize(("name", "host", "what"), READS, ids=lambda one: str(one)[:40])
def test_that_no_alarm_follows_from_an_odd_answer(name: str, host: str, what: str, how: str) -> None:
    if how == "late" and what in SERVES:
        pytest.skip("a process that was seen and does not answer is no absence")
    estate, _ = looked(name, host, what, how)
    for cluster in estate.clusters:
        for node in cluster.nodes:
            assert node.health in {Health.GOOD, Health.UNKNOWN}, (node.name, node.state, node.reason)
            assert node.health is Health.GOOD or node.reason, node.name  # what is not known has its reason
        assert cluster.health in {Health.GOOD, Health.UNKNOWN}, cluster.problems


@pytest.mark.parametrize("how", ["denied", "no such program", "late"])
@pytest.mark.parametrize(("name", "host"), [("async-healthy", "r1"), ("mysql-replica", "m2")])
def test_that_a_server_whose_channels_can_not_be_read_is_not_green(name: str, host: str, how: str) -> None:
    """It may be a replica that stands still: a missing right is no word that it is none."""
    recorded = load(f"situations/{name}.json")["hosts"][host]
    variables = dict(recorded["queries"]["SHOW GLOBAL VARIABLES"]["rows"])
    read = dialect_of(variables).replication_status
    assert read is not None
    estate, _ = looked(name, host, statement_of(read), how)
    (node,) = (n for c in estate.clusters for n in c.nodes if n.facts is not None and n.facts.host == host)
    assert node.health is Health.UNKNOWN
    assert "replicates is not known" in node.reason
    assert ("Access denied" in node.reason) == (how != "late")


@pytest.mark.parametrize("how", ["nothing", "garbage"])
@pytest.mark.parametrize(("name", "host"), [("async-healthy", "r1"), ("mysql-replica", "m2")])
def test_that_without_variables_it_is_not_known_whether_a_server_replicates(name: str, host: str, how: str) -> None:
    estate, _ = looked(name, host, "SHOW GLOBAL VARIABLES", how)
    nodes = [n for c in estate.clusters for n in c.nodes if n.facts is not None and n.facts.host == host]
    assert [n.health for n in nodes] == [Health.UNKNOWN]
