"""Who holds a server up: what is said is what was read, and a wait says it from its tenth second on."""

from __future__ import annotations

import threading

from services.clock import ManualClock
from services.connections.ports import Rows
from services.errors import QueryFailed, Unreachable
from services.facts.server.holding_up import Holder, Seen, holders, read_holders
from services.facts.server.lock_holders import read_lockers
from services.procedures.conditions.server.status import StatusIs
from services.procedures.engine.held_up import HeldUp, still_open
from services.procedures.engine.parts import Policy
from services.procedures.engine.run_log import RunLog
from services.procedures.plan.condition import Answer
from services.procedures.plan.run_model import RunState, StepState
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.engine_world import Bench, is_, plan_of, switch, wait
from tests.unit.procedures.scripted_sessions import NOTHING, ScriptedHosts, status

ANN = (33, "ann", "Sleep", None, 20, "10.0.0.5:41022")
APP = (7, "app", "Sleep", None, 130, "10.0.0.9:5100")
DDL = (9, "dba", "Query", "ALTER TABLE t ADD x INT", 45, "localhost")
OWN = (50, "pilothouse", "Query", "SELECT 1", 0, "10.0.0.1:9")


def seen(**more: object) -> Seen:
    known: dict[str, object] = {
        "processes": (ANN, APP, DDL, OWN), "transactions": {}, "lockers": frozenset(), "desynced": False,
        "own_users": frozenset({"pilothouse", "pilothouse_op"}),
    }  # fmt: skip
    return Seen(**{**known, **more})  # type: ignore[arg-type]


def test_that_a_read_lock_is_told_with_who_holds_it_and_for_how_long() -> None:
    found = holders("s3", seen(lockers=frozenset({33}), processes=(ANN,), desynced=True))
    assert [h.sentence for h in found] == [
        "ann@10.0.0.5 (session 33, 20 s, idle) holds FLUSH TABLES WITH READ LOCK on s3"
    ]


def test_that_ddl_and_a_long_transaction_are_told_and_a_short_one_is_not() -> None:
    found = holders("s3", seen(transactions={7: 120, 33: 9}))
    assert [h.sentence for h in found] == [
        "dba@localhost (session 9, 45 s, at work) runs ALTER TABLE on s3",
        "app@10.0.0.9 (session 7, 130 s, idle) has a transaction open on s3 since 120 s",
    ]


def test_that_a_lock_whose_holder_can_not_be_read_is_not_known_and_says_who_it_may_be() -> None:
    (found,) = holders("s3", seen(processes=(ANN,), lockers=None, desynced=True))
    assert "which session is not known, idle are: ann@10.0.0.5 (session 33, 20 s, idle)" in found.sentence
    assert holders("s3", seen(processes=(ANN,), lockers=None)) == ()


def test_that_neither_account_of_this_console_is_a_suspect() -> None:
    operator = (51, "pilothouse_op", "Sleep", None, 90, "10.0.0.1:10")
    (found,) = holders("s3", seen(processes=(ANN, OWN, operator), lockers=None, desynced=True, transactions={51: 90}))
    assert "ann@10.0.0.5" in found.sentence
    assert "pilothouse" not in found.sentence


def test_that_the_key_of_a_cause_does_not_change_with_its_seconds() -> None:
    one, two = (holders("s3", seen(transactions={7: s}, processes=(APP,))) for s in (20, 90))
    assert one[0].key == two[0].key
    assert one[0].sentence != two[0].sentence


def test_that_a_server_without_the_plugin_or_an_answer_is_no_error() -> None:
    session = ScriptedHosts("s3").sessions["s3"]
    session.state = status(desync_count="1")
    session.rows = {
        "SELECT SUBSTRING_INDEX": Rows(("u",), (("pilothouse",),)),
        "SELECT id": Rows(("id", "user", "command", "info", "time", "host"), (ANN, OWN)),
        "SHOW GLOBAL VARIABLES": Rows(("n", "v"), (("wsrep_desync", "OFF"),)),
    }
    assert [h.key for h in read_holders(session, "s3", frozenset({"pilothouse_op"}))] == ["s3:desync"]
    session.rows["SELECT table_name"] = Rows(("table_name",), (("METADATA_LOCK_INFO",), ("metadata_locks",)))
    session.rows["SELECT thread_id"] = Rows(("thread_id", "lock_mode"), ((33, "MDL_BACKUP_FTWRL2"), (7, "MDL_SHARED")))
    assert [h.key for h in read_holders(session, "s3", frozenset({"pilothouse_op"}))] == ["s3:lock:33"]
    session.state = Unreachable("No route to host.", host="s3")
    assert read_holders(session, "s3", frozenset({"pilothouse_op"})) == ()
    session.state, session.rows = status(), {}
    assert QueryFailed.code
    assert read_holders(session, "s3", frozenset({"pilothouse_op"})) == ()


def test_that_the_read_lock_is_found_in_mysqls_own_table_on_a_mock_of_pxc() -> None:
    """No PXC is at hand: rows as the MySQL manual's "The metadata_locks Table" has them. MariaDB's are on the lab."""
    session = ScriptedHosts("s3").sessions["s3"]
    names = ("processlist_id", "object_type", "lock_type")
    rows = ((33, "GLOBAL", "SHARED"), (33, "COMMIT", "SHARED"), (7, "USER LEVEL LOCK", "EXCLUSIVE"))
    session.rows = {
        "SELECT table_name": Rows(("table_name",), (("metadata_locks",),)),
        "SELECT enabled": Rows(("enabled",), (("YES",),)),
        "SELECT t.processlist_id": Rows(names, rows),
    }
    assert read_lockers(session) == frozenset({33})
    session.rows["SELECT enabled"] = Rows(("enabled",), (("NO",),))
    assert read_lockers(session) is None  # an empty table of an instrument that is off says nothing
    session.rows = {"SELECT table_name": Rows(("table_name",), ())}
    assert read_lockers(session) is None


def _blocked(bench: Bench, step_id: str) -> RunState:
    """Run with an act that comes back only once somebody was asked what holds it up."""
    asked, engine = threading.Event(), bench.engine()

    def read(host: str) -> tuple[Holder, ...]:
        assert threading.current_thread() is threading.main_thread()  # the reading road is the engine's
        asked.set()
        return (Holder(f"{host}:lock:33", f"ann@x (session 33, 20 s, idle) holds a lock on {host}"),)

    def blocks() -> None:
        bench.clock.advance(5.0)
        assert asked.wait(20.0)

    bench.world.after[step_id] = blocks
    object.__setattr__(engine._parts, "holders", read)
    return engine.run()


def test_that_an_act_that_blocks_says_who_holds_it_up_while_it_blocks_and_journals_it_once() -> None:
    bench = Bench(plan_of(switch("n2", "desync")))
    assert _blocked(bench, "desync-n2") is RunState.DONE
    said = [step.said for view in bench.views for step in view.steps if step.state is StepState.ACTING]
    assert "Not done after 5 s. Held up: ann@x (session 33, 20 s, idle) holds a lock on n2" in said
    (told,) = [data for data in bench.lines("note") if data["about"] == "held-up"]
    assert told["text"] == "ann@x (session 33, 20 s, idle) holds a lock on n2"


def test_that_an_act_that_fails_of_what_holds_it_up_says_so_in_its_error() -> None:
    bench = Bench(plan_of(switch("n2", "desync")), policy=Policy("ask", unattended=True))
    bench.world.fails["late desync-n2"] = [QueryFailed("It was given up after 30 s.", host="n2")]
    assert _blocked(bench, "desync-n2") is RunState.FAILED
    error = bench.view.steps[0].error
    assert "It was given up after 30 s. Held up: ann@x (session 33, 20 s, idle) holds a lock on n2." in error


def test_that_a_wait_tells_its_cause_from_the_tenth_second_on_and_journals_it_once() -> None:
    bench = Bench(plan_of(wait("n2", "ready")))
    engine = bench.engine()
    parts = engine._parts
    asked: list[str] = []

    def read(host: str) -> tuple[Holder, ...]:
        asked.append(host)
        return (Holder("n2:lock:33", f"ann@x (session 33, {len(asked)}0 s, idle) holds a lock on {host}"),)

    object.__setattr__(parts, "holders", read)
    log = RunLog(bench.journal, bench.run_id, None)
    held = HeldUp(parts, log, "wait-ready-n2")
    answer = Answer(holds=False, evidence="ready is OFF")
    told = []
    for _ in range(25):
        told.append(held.told(answer, (is_("n2", "ready"),)).evidence)
        bench.clock.advance(1.0)
    assert told[9] == "ready is OFF"
    assert told[10] == "ready is OFF. Held up: ann@x (session 33, 10 s, idle) holds a lock on n2"
    assert asked == ["n2", "n2"]
    notes = [data for data in bench.lines("note") if data["about"] == "held-up"]
    assert [data["text"] for data in notes] == ["ann@x (session 33, 10 s, idle) holds a lock on n2"]


def test_that_only_what_does_not_hold_yet_is_asked_about() -> None:
    conditions = (is_("n1", "a"), is_("n2", "b"))
    found = (Answer(holds=True, evidence=""), Answer(holds=None, evidence=""))
    assert still_open(conditions, found) == conditions[1:]


def test_that_what_only_has_to_stay_so_for_a_while_is_held_up_by_nobody() -> None:
    """Seen on the lab: '... is 0 for 12 of 60 s. Held up: dba@localhost runs DROP DATABASE', with an empty queue."""
    hosts, clock = ScriptedHosts("n2"), ManualClock()
    hosts.sessions["n2"].state = {"queue": "0"}
    settled = StatusIs("n2", "queue", "<", "10", for_s=60.0)
    counting = RealProver(hosts, clock).look(settled, NOTHING)
    hosts.sessions["n2"].state = {"queue": "90"}
    behind = RealProver(hosts, clock).look(settled, NOTHING)
    assert (still_open((settled,), (counting,)), still_open((settled,), (behind,))) == ((), (settled,))
    bench = Bench(plan_of(wait("n2", "ready")))
    parts = bench.engine()._parts
    object.__setattr__(parts, "holders", lambda host: (Holder(f"{host}:ddl:9", "dba runs DROP DATABASE"),))
    held = HeldUp(parts, RunLog(bench.journal, bench.run_id, None), "wait-ready-n2", after_s=0.0)
    assert held.told(counting, ()) == counting
    assert held.told(behind, (settled,)).evidence.endswith("Held up: dba runs DROP DATABASE")
