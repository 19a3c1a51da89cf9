"""A run for machines: one JSON document, in English."""

from __future__ import annotations

from collections.abc import Mapping

from app.cli.approval_text import coming_consents
from app.cli.procedure_text import back_of
from app.cli.steering import answers_of
from services.procedures.journal.codec import encode, plain
from services.procedures.plan.run_model import ASKS_AGAIN, OpenObligation, RunView, StepView
from services.procedures.plan.waiting_words import waiting_words
from services.procedures.service.ways import ways_of


def _undo_document(shown: StepView) -> dict[str, object] | None:
    """Return how a step is being taken back, or was; None where nobody has begun it."""
    undo = shown.undo
    if undo is None:
        return None
    return {
        "title": shown.step.undo.title if shown.step.undo is not None else "",
        "started": undo.started,
        "ended": undo.ended,
        "evidence": list(undo.evidence),
        "output": list(undo.output),
    }


def _obligation_document(one: OpenObligation, view: RunView, at: Mapping[str, str]) -> dict[str, object]:
    """Return what is on, of which cluster, and at which address."""
    return {
        "key": one.obligation.key,
        "host": one.obligation.host,
        "cluster_name": view.plan.cluster_name,
        "address": at.get(view.plan.machine(one.obligation.host), ""),
        "sentence": one.obligation.sentence,
        "since": one.since,
        "seen": one.seen,
        "seen_off": one.seen_off,
    }


def _ways(view: RunView) -> list[dict[str, str]]:
    """Return the commands that apply to it, with what brings its cluster back where nobody serves."""
    back = back_of(view)
    ways = [{"code": way.code.value, "command": way.command} for way in ways_of(view)]
    return [*ways, {"code": "bring back", "command": back.command}] if back is not None else ways


def run_document(view: RunView, addresses: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return a run for machines, in English: state, sentence, steps, obligations, question.

    Args:
        addresses: host -> where the run reaches it.
    """
    at = addresses or {}
    document: dict[str, object] = {
        "run": view.run_id,
        "procedure": view.plan.procedure,
        "title": view.plan.title,
        "cluster": view.plan.cluster_id,
        "cluster_name": view.plan.cluster_name,
        "addresses": dict(at),
        "state": view.state.value,
        "driven": None if view.driver_unknown else view.live or view.elsewhere,
        "sentence": view.sentence,
        "started": view.started,
        "ended": view.ended,
        "steps": [
            {
                "id": s.step.step_id,
                "host": s.step.host,
                "title": s.step.title,
                "state": s.state.value,
                "started": s.started,
                "ended": s.ended,
                "error": s.error,
                "failed": s.failed,
                "evidence": list(s.evidence),
                "output": list(s.output),
                "undo": _undo_document(s),
            }
            for s in view.steps
        ],
        "values": dict(view.kept),
        "obligations": [_obligation_document(o, view, at) for o in view.obligations],
        "question": encode(view.question),
        "answers": list(answers_of(view.question)) if view.question is not None else [],
        "ways": _ways(view),
        "undo_asks": [
            {
                "step": step.step_id,
                "host": step.host,
                "typed": consent.expect,
                "question": consent.question,
                "unless": [waiting_words((one,)) for one in consent.unless],
            }
            for step, consent in coming_consents(view)
        ],
        "breaches": list(view.breaches),
        "broken": [{"code": one.code, "at": one.at, "over": one.over} for one in view.broken],
        "checks": encode(view.checks),
        "overrides": [{"code": o.code, "reason": o.reason} for o in view.overrides],
        "owner": view.owner,
        "binding": view.binding.value,
        "approve": view.code if view.binding in ASKS_AGAIN else "",
    }
    return {key: plain(value) for key, value in document.items()}
