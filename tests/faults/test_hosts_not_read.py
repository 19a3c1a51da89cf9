"""A host that was not read passes no check: whatever could have stopped it there is 'not known' where nobody looked.

Every state of the walk that makes a check block, and every one here that makes one warn, is a part of what is known of
a host. The same part, not read, is no evidence that the state is not there: the check is no pass, or another stops the
run for want of that part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.facts.model import NodeFacts, Problem
from services.procedures.catalogue import procedure_named
from services.procedures.plan.checks import Verdict
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts, HostFacts
from services.types import Reach
from tests.faults.scripted.facts import facts_of
from tests.faults.walking.spoils import on, option
from tests.faults.walking.test_walk import STOPS
from tests.faults.walking.walk import Spoil, Stop, bench_of

OLD = (("gcache.page.000001", 128 * 2**20, 0.5),)
WARNINGS = (
    Stop("BALANCER", "rolling", on("n2", balancers_found=("maxscale",))),
    Stop("BALANCER", "rolling behind haproxy", on("n1", balancers_found=("mysqlrouter",))),
    Stop("CLIENTS", "desync", on("n2", balancers_found=("proxysql",))),
    Stop("CLIENTS-AWAY", "bootstrap", on("n2", balancers_found=("haproxy",))),
    Stop("STALE-PAGES", "freeze", on("n1", gcache_pages=OLD)),
)
BY_NAME = option("n2", "wsrep_cluster_address", "gcomm://n1.example,n2.example")
Passed = dict[tuple[str, str], Verdict]


def _checked(stop: Stop, facts: Facts) -> Passed:
    """Return how each check of the stop's procedure ends, 'not known' as a warning."""
    bench = bench_of(stop)
    procedure = procedure_named(bench.name)
    checks = procedure.preflight(facts, filled(procedure.fields(facts, bench.inputs), bench.inputs))
    found = {}
    for check in checks:
        known = Verdict.WARN if check.not_known and check.verdict is Verdict.PASS else check.verdict
        found[check.code, check.host] = known
    return found


def _unread(before: HostFacts, after: HostFacts) -> HostFacts:
    """Return a host without the parts that a state changed."""
    return replace(before, parts=tuple(part for part in before.parts if after[type(part)] == part))


def _dark(before: HostFacts, after: HostFacts) -> HostFacts:
    """Return a host that the state changed as one that gives no answer at all."""
    if before == after:
        return before
    silent = tuple(Problem(road, "No answer.", "timed-out") for road in ("ssh", "sql"))
    node = NodeFacts(before.host, 1.0, Reach.NONE, problems=silent)
    return HostFacts(before.host, before.address, node, node_name=before.node_name, remembered=before.remembered)


def _passes_unread(
    stop: Stop, ground: Spoil = lambda facts: facts, less: Callable[[HostFacts, HostFacts], HostFacts] = _unread
) -> list[tuple[str, str]]:
    """Return which of the checks that the state stops pass where nobody looked, and none stops the run in their place.

    Args:
        ground: what is known of the hosts whether they are in that state or not.
        less: what is left of a host, by how it is, and how it would be in that state.
    """
    whole = ground(facts_of(bench_of(stop).cluster))
    spoilt = stop.spoil(whole)
    unread = replace(whole, hosts=tuple(map(less, whole.hosts, spoilt.hosts)))
    if unread == whole:
        pytest.skip("it stands in no part of a host")
    found = _checked(stop, spoilt)
    stopped = [one for one, verdict in found.items() if one[0] == stop.code and verdict is not Verdict.PASS]
    assert stopped
    before, now = _checked(stop, whole), _checked(stop, unread)
    if any(verdict is Verdict.BLOCK and before.get(one) is not verdict for one, verdict in now.items()):
        return []
    return [one for one in stopped if now.get(one) is Verdict.PASS]


@pytest.mark.parametrize("stop", [s for s in (*STOPS, *WARNINGS) if not s.later and s.code != "NAMES"], ids=str)
def test_that_what_would_stop_a_run_is_no_pass_where_nobody_looked_on_scripted_hosts(stop: Stop) -> None:
    assert _passes_unread(stop) == []


@pytest.mark.parametrize("stop", [stop for stop in (*STOPS, *WARNINGS) if not stop.later], ids=str)
def test_that_what_would_stop_a_run_is_no_pass_where_its_host_is_silent_on_scripted_hosts(stop: Stop) -> None:
    assert _passes_unread(stop, less=_dark) == []


def test_that_names_that_nobody_looked_up_are_not_known_to_lead_anywhere_on_scripted_hosts() -> None:
    lost = (("n1.example", False), ("n2.example", False))
    assert _passes_unread(Stop("NAMES", "rolling", on("n2", names=lost)), BY_NAME) == []
