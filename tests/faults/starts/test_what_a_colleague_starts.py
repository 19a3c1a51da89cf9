"""A colleague starts a server meanwhile, on scripted hosts: what came of it is told, and is no end that is 'done'."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.faults.scripted.cluster import balanced, crashed, whole
from tests.faults.scripted.running import Bench, Killed


@pytest.mark.parametrize("undone", [True, False])
def test_that_a_stopped_node_that_was_bootstrapped_beside_the_others_is_not_called_back_on_scripted_hosts(
    undone: bool,
) -> None:
    bench = Bench(whole("n1", "n2", "n3"), "rolling-restart", {"nodes": "n3", "pause": "1 s"})
    bench.begin()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step n3:stop-n3 done)" in what:
            raise Killed

    bench.journal.told = told
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    bench.cluster.found_beside(bench.cluster.hosts["n3"])
    state, wanted = (bench.engine().undo(), "stop-n3") if undone else (bench.run(), "start-n3")
    view = bench.engine().view
    assert state in {RunState.UNDO_FAILED, RunState.FAILED}, view.sentence
    step = next(s for s in view.steps if s.step.step_id == f"n3:{wanted}")
    assert "n3 not to form a Primary Component of its own: not yet" in step.error, view.sentence
    assert step.state not in {StepState.DONE, StepState.UNDONE}
    assert bench.cluster.hosts["n3"].apart


@pytest.mark.parametrize("at", ["bootstrap proving", "bootstrap done", "start-n2 done"])
def test_that_a_node_called_off_that_came_in_by_itself_is_named_and_the_run_is_not_done_on_scripted_hosts(
    at: str,
) -> None:
    cluster = crashed("n1", "n2", "n3")
    off = cluster.hosts["n3"]
    off.reachable = False
    inputs = {"nodes": "n1,n2", "gone": "n3"}
    bench = Bench(cluster, "bootstrap-after-crash", inputs, frozenset({"n1", "n2", "without n3"}))
    bench.on_failure = "ask"
    bench.begin()

    def told(when: str, what: str) -> None:
        if when == "after" and f"(step {at})" in what:
            off.reachable = True
            cluster.start(off)

    bench.journal.told = told
    state = bench.run()
    view = bench.engine().view
    assert state is RunState.FAILED, view.sentence
    assert "not counted: n3" in view.sentence
    assert {"n1", "n3"} <= {host.name for host in cluster.primaries()}, "what serves is not taken down"


@pytest.mark.parametrize("way_out", ["undo", "release"])
def test_that_a_haproxy_sends_nobody_to_a_node_that_a_colleague_bootstrapped_beside_the_others_on_scripted_hosts(
    way_out: str,
) -> None:
    """The undo of the stop fails, and what it had on is released: but for the drain, else clients write to the fork."""
    bench = Bench(balanced("n1", "n2", "n3"), "rolling-restart", {"nodes": "n3", "drain": "haproxy", "pause": "1 s"})
    bench.begin()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step n3:stop-n3 done)" in what:
            raise Killed

    bench.journal.told = told
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    node, lb = bench.cluster.hosts["n3"], bench.cluster.hosts["lb"]
    bench.cluster.found_beside(node)
    if way_out == "undo":
        assert bench.engine().undo() is RunState.UNDO_FAILED
    else:
        bench.engine().release()
    drains = [o for o in bench.engine().view.obligations if o.obligation.key.startswith("haproxy:n3")]
    assert [lb.orders["n3"], len(drains)] == ["drain", 1]
    assert ("it could not be released. n3 not to form a Primary Component of its own: not yet") in drains[
        0
    ].release_failed
    bench.cluster.kill(node)  # a person ended the other component, and the node came back as a member
    bench.cluster.start(node)
    bench.engine().release()
    assert lb.orders["n3"] == "ready"


def test_that_an_undo_does_not_stop_a_new_node_that_took_rows_as_a_component_of_its_own_on_scripted_hosts() -> None:
    bench = Bench(whole("n1", "n2", spare="n3"), "add-node", {"joiner": "n3", "settle": "5 s"})
    bench.begin()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step start-n3 done)" in what:
            raise Killed

    bench.journal.told = told
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    node = bench.cluster.hosts["n3"]
    bench.cluster.found_beside(node)
    assert bench.engine().undo() is RunState.UNDO_FAILED
    assert "n3 not to form a Primary Component of its own: not yet" in bench.engine().view.sentence
    assert node.running


@pytest.mark.parametrize("word", ["", "n1", "stop n1"])
def test_that_a_bootstrapped_node_that_took_rows_is_stopped_by_an_undo_for_a_typed_word_alone_on_scripted_hosts(
    word: str,
) -> None:
    confirmed = frozenset({"n1", "n2", "n3"})
    bench = Bench(crashed("n1", "n2", "n3"), "bootstrap-after-crash", {"bootstrap": "n1"}, confirmed)
    bench.begin()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step bootstrap done)" in what:
            raise Killed

    bench.journal.told = told
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    node = bench.cluster.hosts["n1"]
    node.seqno += 6
    bench.confirmed = frozenset({word})
    state = bench.engine().undo()
    assert (state is RunState.UNDONE, node.running) == ((True, False) if word == "stop n1" else (False, True))
    assert word == "stop n1" or "Type 'stop n1' to accept" in bench.engine().view.sentence


def test_that_an_undo_starts_no_node_while_nobody_is_primary_on_scripted_hosts() -> None:
    """It waited in vain, and the clean position of its state file was gone."""
    bench = Bench(whole("n1", "n2", "n3"), "rolling-restart", {"nodes": "n3", "pause": "1 s"})
    bench.begin()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step n3:stop-n3 done)" in what:
            raise Killed

    bench.journal.told = told
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    node, starts = bench.cluster.hosts["n3"], bench.cluster.hosts["n3"].starts
    for name in ("n1", "n2"):
        bench.cluster.kill(bench.cluster.hosts[name])
    assert bench.engine().undo() is RunState.UNDO_FAILED
    assert (node.running, node.starts) == (False, starts)


@pytest.mark.parametrize("by_colleague", [True, False])
def test_that_a_node_that_a_colleague_put_back_into_flow_control_is_told_in_the_wait_on_scripted_hosts(
    by_colleague: bool,
) -> None:
    bench = Bench(whole("n1", "n2", "n3"), "desync-for-backup", {"node": "n3"})
    bench.begin()

    def told(when: str, what: str) -> None:
        if by_colleague and when == "after" and "(step desync done)" in what:
            bench.cluster.hosts["n3"].variables.pop("wsrep_desync")

    bench.journal.told = told
    bench.run()
    view = bench.engine().view
    assert [one.code for one in view.broken[:1]] == (["DESYNC-LOST"] if by_colleague else [])
    assert all("n3 is back in flow control, but not by this run" in one.sentence for one in view.broken)


def test_that_a_desync_that_the_run_itself_ended_is_not_called_a_colleagues_on_scripted_hosts() -> None:
    bench = Bench(whole("n1", "n2", "n3"), "desync-for-backup", {"node": "n3"})
    bench.begin()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step backup checking)" in what:
            bench.cluster.hosts["n3"].free = 0

    bench.journal.told = told
    bench.run()
    assert {one.code for one in bench.engine().view.broken} == {"DISK-FLOOR"}
