"""What a procedure's inputs are called in sentences: their questions' words, never the keys that --input takes."""

from __future__ import annotations

from services.errors import BadInput
from services.i18n import mark, tr
from services.procedures.catalogue import procedure_named
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan

_ASKED_BY_FACTS = {"drained": mark("Clients that were refused before")}
"""Questions that are only asked where the hosts give cause: their own words name those hosts."""


def spoken_inputs(plan: Plan) -> dict[str, str]:
    """Return what each input of a plan is called; of a procedure that is no more, the key without its underscores."""
    try:
        asked = procedure_named(plan.procedure).fields(Facts(0.0, "", ""), {})
    except BadInput:
        asked = ()
    known = {**_ASKED_BY_FACTS, **{field.name: field.title for field in asked}}
    return {name: tr(known[name]) if name in known else name.replace("_", " ") for name, _ in plan.inputs}


def spoken_answers(plan: Plan) -> tuple[str, ...]:
    """Return 'Longest drain of a node: 2 min' for each input that has an answer."""
    names = spoken_inputs(plan)
    return tuple(f"{names[name]}: {value}" for name, value in plan.inputs if value)
