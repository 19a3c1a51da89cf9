"""Config servers half way from mirrors to a set: no procedure plans on them, each says what to do instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.mongodb.replica_set import SetMember
from services.procedures.catalogue import procedure_named
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.invariants.plans import violations
from tests.faults.scripted.config_servers import facts_of, sharded
from tests.unit.discovery.mongo_scenes import member, row, view

ANSWERS: Inputs = {"name": "cfg", "backup": "/srv/copy", "no_ddl": "yes", "no_others": "yes", "way": "window"}
ALONE = (row(1, "PRIMARY", prefix="c"),)
PAIR = (row(1, "PRIMARY", prefix="c"), row(2, prefix="c"))
GROWN = (row(1, "PRIMARY", prefix="c"), row(2, prefix="n"), row(3, prefix="n"))


def _in_set(facts: Facts, host: str, number: int, rows: tuple[SetMember, ...], *, mode: str) -> Facts:
    """The same facts with a config server in a set: in sccc mode it is told as mirrored, else as one of a set."""

    def change(one: HostFacts) -> HostFacts:
        seen = view(number, rows, name="cfg", id="c5", config_servers=True)
        if one.node is None or one.node.mongo is None:  # a new host
            return replace(one, node=replace(member(number, seen, config="replica-set"), host=one.host))
        config = "mirrored" if mode else "replica-set"
        server = replace(one.node.mongo.server, role="member", config=config, config_mode=mode, set_name="cfg")
        return replace(one, node=replace(one.node, mongo=replace(one.node.mongo, server=server, set=seen)))

    hosts = tuple(change(one) if one.host == host else one for one in facts.hosts)
    members = tuple(dict.fromkeys((*facts.members, host)))
    return replace(facts, hosts=hosts, members=members, candidates=tuple(h for h in facts.candidates if h != host))


def _sound() -> Facts:
    return facts_of(sharded("n1", "n2"), ())


SCENES = {
    "the first in sccc mode, alone in its set": _in_set(_sound(), "c1", 1, ALONE, mode="sccc"),
    "two of them in sccc mode": _in_set(_in_set(_sound(), "c1", 1, PAIR, mode="sccc"), "c2", 2, PAIR, mode="sccc"),
    "the first in sccc mode, with new members": _in_set(
        _in_set(_in_set(_sound(), "c1", 1, GROWN, mode="sccc"), "n1", 2, GROWN, mode=""), "n2", 3, GROWN, mode=""
    ),
    "the first of the set, the mirrors still there": _in_set(_sound(), "c1", 1, ALONE, mode=""),
}


def _check(name: str, code: str, facts: Facts, inputs: Inputs) -> Check:
    return next(one for one in procedure_named(name).preflight(facts, inputs) if one.code == code)


@pytest.mark.parametrize("scene", SCENES)
def test_that_an_upgrade_of_half_converted_config_servers_is_refused_and_says_what_to_do(scene: str) -> None:
    """It gave a plan with the same step twice: a server that is both had two turns."""
    inputs = {"version": "3.2.22"}
    plan = procedure_named("mongo-rolling-upgrade").plan(SCENES[scene], inputs)
    assert (violations(plan), plan.steps) == ((), ())
    found = _check("mongo-rolling-upgrade", "CONFIG-HALF-WAY", SCENES[scene], inputs)
    assert found.verdict is Verdict.BLOCK
    assert "cfg" in found.evidence
    assert "pilothouse undo RUN" in found.try_[0]


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("way", ["window", "rolling"])
def test_that_a_second_conversion_of_them_is_refused_and_says_what_to_do(scene: str, way: str) -> None:
    inputs = {**ANSWERS, "way": way, "new": "n1,n2"}
    plan = procedure_named("mongo-config-rs").plan(SCENES[scene], inputs)
    assert (violations(plan), plan.steps) == ((), ())
    found = _check("mongo-config-rs", "CONFIG-FORM", SCENES[scene], inputs)
    assert found.verdict is Verdict.BLOCK
    assert "conversion not finished" in found.evidence
    assert "pilothouse undo RUN" in found.try_[0]


def test_that_mirrors_that_are_mirrors_alone_are_refused_nothing() -> None:
    found = _check("mongo-rolling-upgrade", "CONFIG-HALF-WAY", _sound(), {"version": "3.2.22"})
    assert (found.verdict, found.evidence) == (Verdict.PASS, "mirrored")
    assert procedure_named("mongo-rolling-upgrade").plan(_sound(), {"version": "3.2.22"}).steps
    assert _check("mongo-config-rs", "CONFIG-FORM", _sound(), ANSWERS).verdict is Verdict.PASS
