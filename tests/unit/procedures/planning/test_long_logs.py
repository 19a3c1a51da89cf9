"""What a log proves of a transfer: from its start on however long it is, and not known where it does not reach back."""

from __future__ import annotations

from services.clock import ManualClock
from services.connections.ports import Output, Rows
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.errors import Refused
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import Past
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.scripted_sessions import STARTING, ScriptedHosts

BEGAN = 1_795_265_449.0
LIKE_IST = TransferWas("n1", "IST", "n2", "start-n1")
_WSREP = "1795265450.2 n1 mariadbd[9]: 2026-11-21 10:00:00 0 [Note] WSREP:"
TRANSFER = (
    f"{_WSREP} Prepared IST receiver for 101-14662, listening at: tcp://10.0.0.1:4568",
    f"{_WSREP} Member 1.0 (n1) requested state transfer from 'n2,'. Selected 0.0 (n2)(SYNCED) as donor.",
    f"{_WSREP} Receiving IST: 14562 writesets, seqnos 101-14662",
    f"{_WSREP} 1.0 (n1): State transfer from 0.0 (n2) complete.",
)
NOISE = tuple(f"{_WSREP} ####### Passing WS {n}" for n in range(4_000))


def _session(*, whole: tuple[str, ...] | None, newest: tuple[str, ...]) -> tuple[RealProver, list[tuple[str, ...]]]:
    hosts = ScriptedHosts("n1")
    session = hosts.sessions["n1"]
    session.rows["SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_node_name'"] = Rows(
        ("n", "v"), (("wsrep_node_name", "n1"),)
    )
    session.rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("log_error", ""), ("datadir", "/var/lib/mysql")))
    asked: list[tuple[str, ...]] = []

    def run(read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        command = command_of(read)
        asked.append(command.argv)
        if command.argv[0] == "date":
            return Output(0, str(clock.wall()).encode(), b"")
        if command.argv[0] == "timeout" and whole is None:
            raise Refused("Not here.", host="n1")
        return Output(0, "\n".join((whole or ()) if command.argv[0] == "timeout" else newest).encode(), b"")

    session.run = run  # type: ignore[method-assign]
    clock = ManualClock(BEGAN + 60.0)
    return RealProver(hosts, clock), asked


def _look(prover: RealProver) -> Answer:
    return prover.look(LIKE_IST, Past({}, {"start-n1": BEGAN}))


def test_that_an_ist_of_more_write_sets_than_a_tail_has_lines_is_proven() -> None:
    prover, asked = _session(whole=(STARTING, *TRANSFER), newest=NOISE)
    answer = _look(prover)
    assert (answer.holds, "write sets 101 to 14662" in answer.evidence) == (True, True)
    (read,) = [argv for argv in asked if argv[0] == "timeout"]
    assert read[-2:] == ("mariadb.service", f"@{int(BEGAN) - 62}")


def test_that_a_log_which_does_not_reach_back_to_the_start_is_not_known_and_never_no() -> None:
    prover, _ = _session(whole=None, newest=NOISE)
    answer = _look(prover)
    assert (answer.holds, "does not go back" in answer.evidence) == (None, True)


def test_that_a_log_which_reaches_back_and_tells_of_no_transfer_says_no() -> None:
    prover, _ = _session(whole=(STARTING,), newest=())
    assert _look(prover).holds is False
    older = f"{BEGAN - 30} n1 mariadbd[8]: 2026-11-21 09:59:30 0 [Note] WSREP: Shutdown complete"
    prover, _ = _session(whole=(older,), newest=())
    assert _look(prover).holds is False


def test_that_a_host_which_refuses_the_filter_is_read_by_its_newest_lines() -> None:
    prover, _ = _session(whole=None, newest=(STARTING, *TRANSFER))
    assert _look(prover).holds is True
