"""A backup that is brought first, from another host or made now: the plan, its refusals, undo, kill and resume."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.procedures.catalogue import procedure_named
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import RunState
from tests.faults.scripted import bringing
from tests.faults.scripted.cluster import Cluster, whole
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.running import Bench, Killed
from tests.unit.procedures.host_of import changed

RUN = procedure_named("rejoin-from-incrementals")
NOW = {"joiner": "n3", "backup_from": "now", "source": "n2", "settle": "1 s"}
HOST = {"joiner": "n3", "backup_from": "host", "source": "n1", "settle": "1 s"}
PLACE = f"{bringing.PLACE}n3"


def _away() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.kill(cluster.hosts["n3"])
    return cluster


def _facts(of: str = "n3", **more: Any) -> Facts:
    facts = facts_of(_away())
    return replace(facts, hosts=tuple(changed(h, **more) if h.host == of else h for h in facts.hosts))


def _plan(facts: Facts, inputs: dict[str, str]) -> Plan:
    assert RUN.faults(facts, inputs) == ()
    plan = RUN.plan(facts, inputs)
    assert violations(plan) == ()
    return plan


def test_x() -> None:
    for way in (NOW, HOST):
        plan = _plan(_facts(), way)
        print([s.step_id for s in plan.steps])
        print({c.code: c.evidence for c in RUN.preflight(_facts(), way) if c.verdict is not Verdict.PASS})
        bench = Bench(_away(), "rejoin-from-incrementals", dict(way))
        bench.begin()
        state = bench.run()
        view = bench.engine().view
        print(state, view.sentence, [(s.step.step_id, s.state.value, s.error) for s in view.steps][-5:])
        print({n: h.files for n, h in bench.cluster.hosts.items()}, bench.cluster.alarms)
    assert 0
