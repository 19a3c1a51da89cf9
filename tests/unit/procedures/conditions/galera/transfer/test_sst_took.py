"""How long an SST took by the joiner's log, and by how much the forecast missed."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Output, Rows
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.procedures.conditions.galera.transfer.sst_took import SstTook
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import AT_THE_END, Past
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.scripted_sessions import ScriptedHosts, out

BEGAN = {"start-n3": 1_795_265_449.0}
TOOK = SstTook("n3", "start-n3", 40.0, "zstd with 1 thread")


def _line(at: float, said: str) -> str:
    return f"{at} n3 mariadbd[9]: 2026-11-21 10:00:00 0 [Note] WSREP: {said}"


SELECTED = _line(
    1795265450.0, "Member 1.0 (n3) requested state transfer from 'n1,'. Selected 0.0 (n1)(SYNCED) as donor."
)
SST = _line(1795265451.0, "Proceeding with SST")
COMPLETE = _line(1795265500.0, "1.0 (n3): State transfer from 0.0 (n1) complete.")


def _look(*lines: str, began: dict[str, float] | None = None) -> Answer:
    hosts = ScriptedHosts("n3")
    session = hosts.sessions["n3"]
    session.rows["SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_node_name'"] = Rows(
        ("n", "v"), (("wsrep_node_name", "n3"),)
    )
    session.rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("log_error", ""), ("datadir", "/var/lib/mysql")))

    def run(read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        return out("1795265600.0") if command_of(read).argv[0] == "date" else out("\n".join(lines))

    session.run = run  # type: ignore[method-assign]
    return RealProver(hosts, ManualClock(1_795_265_600.0)).look(TOOK, Past({}, BEGAN if began is None else began))


def test_that_it_is_told_from_the_request_to_the_joined_state_and_kept_for_the_end() -> None:
    answer = _look(SELECTED, SST, COMPLETE)
    sentence = "The SST to n3 took 50 s, 40 s were forecast (zstd with 1 thread): 25 % more, within"
    assert answer.holds is True
    assert answer.evidence.startswith(sentence)
    ((name, said),) = answer.kept
    assert name.startswith(AT_THE_END)
    assert said.startswith(sentence)
    assert TOOK.declared().keeps == {name}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((SELECTED, SST), "has not ended"),
        ((SELECTED, _line(1795265460.0, "SST failed: 32"), COMPLETE), "failed"),
        ((SELECTED, COMPLETE), "was no SST"),
        ((), "no transfer"),
        ((SELECTED.replace("(n3)", "(n2)"), SST), "no transfer"),  # another node's
    ],
)
def test_that_what_is_no_sst_that_ended_is_no_duration(lines: tuple[str, ...], says: str) -> None:
    answer = _look(*lines)
    assert (answer.holds, says in answer.evidence, answer.kept) == (False, True, ())


def test_that_a_step_that_did_not_begin_bounds_no_log() -> None:
    assert _look(SELECTED, SST, COMPLETE, began={}).holds is None
