"""States have codes, which are compared, and words, which are shown: old recordings hold the words alone."""

from __future__ import annotations

import msgspec

from services.discovery.families.galera.kind import GALERA
from services.discovery.judgement import states
from services.discovery.judgement.states import BY_WORD, State
from services.discovery.model import ClusterSnapshot, Component, EstateSnapshot, NodeView
from services.history.recordings.readable import read_snapshot, readable
from services.procedures.service.offers import situations
from services.types import Reach

_OWN_WORDS = {states.DISK_FULL, states.REPLICA, states.NOT_KNOWN, states.OTHER}
"""Said with other words in them, or of several things: an old recording's word does not tell their code."""

_WORD_OF_EARLIER_DAYS = "IO thread can't connect"


def _all() -> list[State]:
    return [value for value in vars(states).values() if isinstance(value, State)]


def test_that_no_two_states_share_a_code() -> None:
    codes = [state.code for state in _all()]
    assert len(set(codes)) == len(codes) > 30


def test_that_the_word_of_each_state_in_an_old_recording_tells_its_code() -> None:
    assert {state.word: state.code for state in _all() if state not in _OWN_WORDS} == {
        word: code
        for word, code in BY_WORD.items()
        if code != states.RECEIVING[""].code and word != _WORD_OF_EARLIER_DAYS
    }


def test_that_a_word_that_is_shown_no_more_still_tells_its_code() -> None:
    read_again = read_snapshot(_without_code(_WORD_OF_EARLIER_DAYS)).clusters[0].nodes[0]
    assert (read_again.state, read_again.code) == (_WORD_OF_EARLIER_DAYS, states.IO_CONNECTS.code)


def _estate(node: NodeView) -> EstateSnapshot:
    cluster = ClusterSnapshot("u", GALERA, "sales", 10.0, nodes=(node,), components=(Component("c", True, ("n1",)),))
    return EstateSnapshot(10.0, (cluster,))


def _node(**given: object) -> NodeView:
    return NodeView("n1", "db1", "db1", reach=Reach.FULL, **given)  # type: ignore[arg-type]


def _without_code(word: str) -> bytes:
    text = msgspec.json.decode(readable(_estate(_node(state=word, code="synced"))))
    del text["clusters"][0]["nodes"][0]["code"]
    return msgspec.json.encode(text)


def test_that_a_node_of_a_recording_without_codes_is_read_with_the_code_of_its_word() -> None:
    read_again = read_snapshot(_without_code("Synced")).clusters[0].nodes[0]
    assert (read_again.state, read_again.code) == ("Synced", "synced")
    assert read_snapshot(_without_code("a word of another version")).clusters[0].nodes[0].code == ""


def test_that_what_fits_a_node_goes_by_its_code_whatever_its_server_calls_the_state() -> None:
    called = _estate(_node(state="Synced (own build)", code="synced")).clusters[0]
    assert situations(called, called.nodes[0]) == {"synced"}
    full = _estate(_node(state="Synced", code="disk-full")).clusters[0]
    assert situations(full, full.nodes[0]) == frozenset()
