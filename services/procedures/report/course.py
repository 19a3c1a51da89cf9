"""The whole journal of a run as rows for people: every entry in its order, one line each. Pure."""

from __future__ import annotations

import json

from services.i18n import tr
from services.procedures.plan.run_model import Entry
from services.procedures.report.blocks import hour

Row = tuple[str, ...]


def course(entries: tuple[Entry, ...]) -> tuple[Row, ...]:
    """Return number, time (UTC), step, what and what was said, of every entry."""
    return tuple((str(e.seq), hour(e.at), e.step_id, *_told(e)) for e in entries)


def _told(entry: Entry) -> tuple[str, str]:
    data = entry.data or {}

    def text(name: str) -> str:
        return str(data.get(name) or "")

    told = {
        "planned": (tr("planned"), text("owner")),
        "approved": (tr("approved"), text("by")),
        "run": (tr("run: {state}", state=text("state")), text("sentence")),
        "step": (text("state"), ". ".join(filter(None, (text("error"), text("said"))))),
        "value": (tr("kept {name}", name=text("name")), text("value")),
        "output": (tr("output"), _last(data.get("lines"))),
        "obligation-taken": (tr("takes an obligation"), _inside(data, "obligation", "sentence")),
        "obligation-discharged": (tr("discharges {key}", key=text("key")), text("evidence")),
        "asked": (tr("asks"), _inside(_part(data, "question"), "ask", "question")),
        "answered": (tr("answer: {answer}", answer=text("answer")), text("by")),
        "continued": (tr("planned on"), ""),
        "breach": (
            tr("watch rule {code} was violated", code=text("code")),
            f"{text('sentence')} {text('evidence')}".strip(),
        ),
        "lock": (tr("lock: {what}", what=text("what")), text("sentence")),
        "note": (_noted(data), _hosts(text("text")) if text("about") == "hosts" else text("text")),
    }
    return told.get(entry.kind, (entry.kind, ""))


def _noted(data: dict[str, object]) -> str:
    about = str(data.get("about") or "")
    if about == "mended":
        return tr("watch rule {code} holds again", code=str(data.get("key") or ""))
    return about or tr("note")


def _part(data: dict[str, object], name: str) -> dict[str, object]:
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _inside(data: dict[str, object], name: str, field: str) -> str:
    return str(_part(data, name).get(field, ""))


def _hosts(sentence: str) -> str:
    """Return 'db1 10.0.0.1, db2 10.0.0.2' of the note that keeps where the hosts of a run are reached."""
    try:
        found = json.loads(sentence)
    except (ValueError, RecursionError):
        return sentence
    if not isinstance(found, dict):
        return sentence
    places = ((name, place[0] if isinstance(place, list) and place else place) for name, place in found.items())
    return ", ".join(f"{name} {place}" for name, place in places)


def _last(lines: object) -> str:
    return str(lines[-1]) if isinstance(lines, list) and lines else ""
