"""Each procedure as one short run on real servers: how it is started, its long step, what is true at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from services.procedures.plan.run_model import Entry, RunView, StepState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states.obstacles import node_down, nothing
from tests.lab.procedures.whole import members

_SWITCHED = (
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_desync', 'wsrep_reject_queries', 'wsrep_sst_donor', "
    "'innodb_io_capacity')"
)

Situation = Callable[[Estate], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One run.

    Attributes:
        situation: what the estate must be like before; what it makes is taken back by the estate's own restoring.
        long_step: the step that lasts; host: where a fault hits hardest during it.
        again: words that `resume` needs besides.
        size: members Synced at the end.
    """

    name: str
    procedure: str
    long_step: str
    host: str
    inputs: dict[str, object] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    estate: str = "steer"
    situation: Situation = nothing
    size: int = 3

    def words(self) -> tuple[str, ...]:
        """The command line, without `--yes`."""
        given = tuple(word for name, value in self.inputs.items() for word in ("--input", f"{name}={value}"))
        return ("run", self.procedure, *self.more, *given)

    def assert_end(self, console: Console) -> None:
        """Assert the state that an unbroken run ends in."""
        estate = console.estate
        names = (*members(estate), *(("new",) if self.size > len(members(estate)) else ()))
        estate.wait_synced(names, size=self.size, limit_s=30)
        assert console.open_obligations() == ()
        for name in names:
            rows = {row[0]: row[1] if len(row) > 1 else "" for row in estate.sql(name, _SWITCHED)}
            wanted = "444" if self.inputs.get("value") and name == self.host else "200"
            expected = {"wsrep_desync": "OFF", "wsrep_reject_queries": "NONE", "wsrep_sst_donor": ""}
            assert rows == {**expected, "innodb_io_capacity": wanted}, (name, rows)

    def __str__(self) -> str:
        return self.name


@contextmanager
def all_killed(estate: Estate) -> Iterator[None]:
    """Every member dies, the first one some write sets before the others."""
    first, *others = members(estate)
    estate.sql(first, "CREATE TABLE IF NOT EXISTS sbtest.crash (id BIGINT PRIMARY KEY AUTO_INCREMENT)")
    estate.kill9(first)
    estate.wait_synced(others, size=len(others), limit_s=40)
    for _ in range(5):
        estate.sql(others[0], "INSERT INTO sbtest.crash VALUES ()")
    for name in others:
        estate.kill9(name)
    yield


CONFIRM = ("--confirm", "s1", "--confirm", "s2", "--confirm", "s3")
OVERRIDE = ("--override", "FOREIGN-PROVIDER=the lab loads it on purpose, on all nodes")

DESYNC = Scenario("desync-for-backup", "desync-for-backup", "catch-up", "s3", {"node": "s3"})
RESTART = Scenario(
    "rolling-restart",
    "rolling-restart",
    "s3:start-s3",
    "s3",
    {"nodes": "s3", "option": "innodb_io_capacity", "value": "444", "pause": "1 s", "soak": "3 s", "downtime": "20 s"},
)
REJOIN = Scenario("add-node", "add-node", "start-s3", "s3", {"joiner": "s3", "settle": "5 s"}, situation=node_down)
ADD = Scenario("add-node-sst", "add-node", "start-new", "new", {"joiner": "new", "settle": "5 s"}, size=4)
CRASH = Scenario(
    "bootstrap-after-crash", "bootstrap-after-crash", "bootstrap", "s3", {}, CONFIRM, CONFIRM, situation=all_killed
)
FREEZE = Scenario(
    "freeze-gcache",
    "freeze-gcache",
    "start-f3",
    "f3",
    {"node": "f3", "donor": "f1", "away": "1 min", "floor": "100 MB"},
    OVERRIDE,
    estate="freeze",
)
SCENARIOS = (DESYNC, RESTART, REJOIN, ADD, CRASH, FREEZE)


def assert_nothing_done_twice(view: RunView, entries: tuple[Entry, ...]) -> None:
    """Assert that no act that must not be repeated was begun twice without a proof that the first one never was."""
    for step in view.plan.steps:
        acting = [
            e
            for e in entries
            if e.kind == "step" and e.step_id == step.step_id and (e.data or {}).get("state") == StepState.ACTING.value
        ]
        assert step.repeatable or len(acting) <= 2, (step.step_id, len(acting))
