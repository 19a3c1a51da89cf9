"""What the tests of rejoin-from-binlogs begin with: three nodes, one gone, and what a survey told of its files."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey import survey_name
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan, Step
from tests.faults.scripted.cluster import Cluster, whole
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.rejoining import SURVEYED

PROCEDURE = procedure_named("rejoin-from-binlogs")
INPUTS: Inputs = {"joiner": "n3", "backup": "/srv/backup", "binlogs": "/srv/binlogs"}
TOLD = SURVEYED.removeprefix("survey: ")


def cluster_without_n3() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.kill(cluster.hosts["n3"])
    return cluster


def facts_told(sentence: str = TOLD) -> Facts:
    return facts_of(cluster_without_n3(), ((survey_name("n3"), sentence),))


def with_parts(facts: Facts, host: str, *parts: object) -> Facts:
    changed = facts.host(host)
    for part in parts:
        changed = changed.with_part(part)  # type: ignore[arg-type]
    return replace(facts, hosts=tuple(changed if one.host == host else one for one in facts.hosts))


def checks_of(facts: Facts, **inputs: str) -> dict[str, Check]:
    return {check.code: check for check in PROCEDURE.preflight(facts, {**INPUTS, **inputs})}


def continued(facts: Facts, **inputs: str) -> tuple[dict[str, Check], Plan, Plan]:
    given = {**INPUTS, **inputs}
    first = PROCEDURE.plan(facts, given)
    checks, then = PROCEDURE.continued(facts, given, first)
    assert violations(then) == ()
    return {check.code: check for check in checks}, first, then


def step_of(plan: Plan, step_id: str) -> Step:
    return next(step for step in plan.steps if step.step_id == step_id)
