"""Whether a node is whole is judged once: all combinations of what it tells, and what each of the three makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from services.discovery.families.galera.judge import own_word
from services.discovery.judgement.judge import Around
from services.discovery.nodes import Node
from services.facts.galera.whole import DONOR, MEMBERSHIP, SYNCED, Lack, by_status, lacks
from services.facts.model import GaleraFacts, NodeFacts
from services.procedures.catalogue.checks.health import health_gate
from services.procedures.plan.checks import Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.types import Health, Reach

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"
WHOLE = GaleraFacts(
    cluster_status="Primary", local_state=SYNCED, local_state_comment="Synced", ready=True, connected=True,
    desync_count=0, state_uuid=UUID, cluster_size=1, conf_id=3,
)  # fmt: skip


def every_node() -> Iterator[GaleraFacts]:
    """Yield a node in every combination of what decides."""
    flags = (True, False, None)
    for status, state, ready, connected, count, off in product(
        ("Primary", "non-Primary", "Disconnected", ""),
        (None, 0, 1, 2, 3, 4, 5),
        flags,
        flags,
        (None, 0, 1),
        (False, True),
    ):
        for refuses in ("", "NONE", "ALL"):
            yield GaleraFacts(
                cluster_status=status, local_state=state, ready=ready, connected=connected, desync_count=count, off=off,
                reject_queries=refuses, state_uuid=UUID, cluster_size=1, conf_id=3,
            )  # fmt: skip


def as_the_gate_judged(galera: GaleraFacts, *, desynced: bool) -> bool:
    """Return whether the check before a run passed a node, by the rules that stood in it before there was one place."""
    state_ok = galera.local_state == SYNCED or (desynced and galera.local_state == DONOR)
    count_ok = galera.desync_count is not None and (not galera.desync_count or desynced)
    return not galera.off and galera.cluster_status == "Primary" and state_ok and galera.ready is True and count_ok


@pytest.mark.parametrize("desynced", [False, True])
def test_that_the_one_judgement_answers_as_the_gate_did_and_more_strictly_of_one_that_is_not_connected(
    desynced: bool,
) -> None:
    for galera in every_node():
        whole = not lacks(galera, desynced=desynced) & MEMBERSHIP
        assert whole is (as_the_gate_judged(galera, desynced=desynced) and galera.connected is not False), galera


def test_that_a_node_which_the_gate_passes_is_never_drawn_as_bad_or_on_its_way() -> None:
    for galera in every_node():
        facts = NodeFacts("db1", 10.0, Reach.FULL, sql_at=10.0, galera=galera)
        node = Node("n1", "db1", facts, at=10.0)
        drawn = own_word(node, Around())
        if not lacks(galera) & MEMBERSHIP:
            assert drawn.health is (Health.WARN if Lack.REFUSES in lacks(galera) else Health.GOOD), galera
        if drawn.health is Health.GOOD:  # what the node does not tell is drawn as it was, and holds a run up
            assert lacks(galera) & MEMBERSHIP <= {Lack.READY_UNTOLD, Lack.DESYNCED, Lack.DESYNC_UNTOLD}, galera


@pytest.mark.parametrize(
    ("change", "lack", "words"),
    [
        ({"cluster_status": "non-Primary"}, Lack.NOT_PRIMARY, "n1 is non-Primary, not Primary"),
        ({"cluster_status": ""}, Lack.NOT_PRIMARY, "n1 is of unknown status, not Primary"),
        ({"connected": False}, Lack.NOT_CONNECTED, "n1: wsrep_connected is not ON"),
        ({"local_state": 3, "local_state_comment": "Joined"}, Lack.NOT_SYNCED, "n1 is Joined, not Synced"),
        ({"ready": False}, Lack.NOT_READY, "n1: wsrep_ready is not ON"),
        ({"ready": None}, Lack.READY_UNTOLD, "n1: wsrep_ready is not ON"),
        ({"desync_count": 2}, Lack.DESYNCED, "n1: wsrep_desync_count is 2"),
        ({"desync_count": None}, Lack.DESYNC_UNTOLD, "n1: wsrep_desync_count could not be read"),
        ({"off": True}, Lack.OFF, "n1: wsrep_on is OFF: its writes are not replicated"),
    ],
)
def test_that_each_lack_of_a_member_blocks_a_run_in_its_own_words(
    change: dict[str, object], lack: Lack, words: str
) -> None:
    galera = replace(WHOLE, **change)  # type: ignore[arg-type]
    assert lacks(galera) == {lack}
    host = HostFacts("n1", node=NodeFacts("n1", 10.0, Reach.FULL, sql_at=10.0, galera=galera))
    check = health_gate(Facts(10.0, UUID, "sales", members=("n1",), hosts=(host,)), ("n1",))
    assert check.verdict is Verdict.BLOCK
    assert words in check.evidence


def test_that_status_alone_tells_the_same_of_a_member_as_all_facts() -> None:
    status = {
        "wsrep_cluster_status": "Primary", "wsrep_local_state": "4", "wsrep_local_state_comment": "Synced",
        "wsrep_ready": "ON", "wsrep_connected": "ON", "wsrep_desync_count": "0", "wsrep_cluster_size": "1",
        "wsrep_cluster_state_uuid": UUID,
    }  # fmt: skip
    assert lacks(by_status(status)) == frozenset() == lacks(WHOLE)
    assert lacks(by_status({})) == {Lack.NOT_PRIMARY, Lack.NOT_SYNCED, Lack.READY_UNTOLD, Lack.DESYNC_UNTOLD}
