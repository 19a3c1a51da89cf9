"""The positions that a run comes to know are remembered beyond it: the next run, and any console, can look back.

The journal keeps them as values of the run; this puts them into our own history of the nodes as well. So is what a
person gave up: a host that lost its side of two Primary Components by its typed name, and came by SST, has none.
"""

from __future__ import annotations

import logging

from services.errors import UserError
from services.facts.galera.state_files import NOT_RECOVERED, ZERO_UUID, position_of
from services.facts.reading import count
from services.history.state.positions import PositionSeen
from services.history.state.store import StateStore
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.journal.codec import plan_in
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.model import Plan, Risk, Step
from services.procedures.plan.pasts.positions import kept_name, tail_name
from services.procedures.plan.run_model import Entry, Journal, StepState

_logger = logging.getLogger(__name__)


def position_in(plan: Plan, step_id: str, name: str, value: str) -> tuple[str, str, str, int] | None:
    """Return (host, cluster UUID, source, seqno) that a kept value of a step tells; None where it is no position. Pure.

    Positions are what --wsrep-recover said, the last Xid of a binary log, and where a server stopped cleanly.
    """
    step = next((s for s in plan.steps if s.step_id == step_id), None)
    if step is None:
        return None
    if name == kept_name(step.host):
        found = None if value.startswith(NOT_RECOVERED) else position_of(value)
        if found is None or found[0] == ZERO_UUID or found[1] < 0:
            return None
        return step.host, found[0], "recovered", found[1]
    if count(value) is None or not plan.cluster_id:
        return None
    if name == tail_name(step.host):
        return step.host, plan.cluster_id, "binlog", int(value)
    stopped = _stopped(step, name)
    return (stopped.host, stopped.state_uuid, "grastate", int(value)) if stopped is not None else None


def _stopped(step: Step, name: str) -> CleanPosition | None:
    return next((c for c in step.proof if isinstance(c, CleanPosition) and c.keep == name), None)


def gave_up_side(plan: Plan, step_id: str) -> str:
    """Return the host whose SST this step proves, after a person typed that it gives up its side; '' else. Pure."""
    step = next((s for s in plan.steps if s.step_id == step_id), None)
    proof = step.action.conditions if step is not None and isinstance(step.action, WaitFor) else ()
    came = next((c.host for c in proof if isinstance(c, TransferWas) and c.kind == "SST"), "")
    given = any(s.host == came and s.risk is Risk.IRREVERSIBLE and s.confirm == came for s in plan.steps)
    return came if given else ""


class RememberingJournal:
    """A run's journal (run_model.Journal) that also adds the positions it is given to our own history of the nodes.

    Args:
        plan: the plan as it is now; it becomes longer where the run plans on.
    """

    def __init__(self, journal: Journal, state: StateStore, plan: Plan) -> None:
        self._journal = journal
        self._state = state
        self._plan = plan

    def new_run(self, procedure: str, cluster_id: str, title: str) -> str:
        """Reserve and return a run's id."""
        return self._journal.new_run(procedure, cluster_id, title)

    def append(self, run_id: str, kind: str, step_id: str = "", data: dict[str, object] | None = None) -> Entry:
        """Write one entry; a position in it is remembered after it is on the disk."""
        entry = self._journal.append(run_id, kind, step_id, data)
        if kind == "continued" and data is not None:
            self._plan = plan_in(data.get("plan"))
        if kind == "value" and data is not None:
            self._remember(entry, str(data.get("name", "")), str(data.get("value", "")))
        if kind == "step" and data is not None and data.get("state") == StepState.DONE.value:
            self._settle(entry)
        return entry

    def entries(self, run_id: str) -> tuple[Entry, ...]:
        """Return a run's entries in order."""
        return self._journal.entries(run_id)

    def runs(self) -> tuple[str, ...]:
        """Return all run ids, newest first."""
        return self._journal.runs()

    def _settle(self, entry: Entry) -> None:
        host = gave_up_side(self._plan, entry.step_id)
        if not host:
            return
        names = frozenset({host, dict(self._plan.inputs).get("node_name", "")} - {""})
        words = f"{host} gave up its side: its name was typed, and its log shows an SST."
        try:
            self._state.splits().gave_up(self._plan.cluster_id, names, f"run {entry.run_id}", words)
        except UserError as problem:
            # It stays a warning until a person settles it: what fails here costs nobody's rows.
            _logger.info("what %s gave up is not settled: %s", host, problem)

    def _remember(self, entry: Entry, name: str, value: str) -> None:
        found = position_in(self._plan, entry.step_id, name, value)
        if found is None:
            return
        host, cluster, source, seqno = found
        try:
            self._state.remember_positions(
                (PositionSeen(host, cluster, source, seqno, entry.at, f"run {entry.run_id}"),)
            )
        except UserError as problem:
            # The run has it in its journal: what fails here costs the next run's memory, never this run.
            _logger.info("a position of %s is not remembered: %s", host, problem)
