"""What stands beside a run's question: which rules are broken now, what holds again, whether anybody drives the run."""

from __future__ import annotations

from services.i18n import tr, tr_n
from services.procedures.plan.run_model import Broken, RunView
from widgets.common.look.text import format_clock, format_count


def broken_rules(view: RunView) -> tuple[Broken, ...]:
    """Return the rules that are broken now, but for the one that the question is about: it says so itself."""
    asks = view.question is not None and view.question.topic == "breach"
    return () if asks or view.elsewhere else view.standing


def idle_words(view: RunView) -> str:
    """Return that nobody drives a run whose question stands, '' where somebody does."""
    if view.question is None or view.live or view.elsewhere:
        return ""
    return tr(
        "No console drives this run now: its question may be out of date, and nothing is watched. Resume the run first."
    )


def over_since(view: RunView) -> str:
    """Return what broke while the open question stood and holds again, in one line: '' for nothing."""
    since = view.question.since if view.question is not None else 0.0
    over = [one for one in view.broken if one.over is not None and one.at >= since]
    if view.question is None or not over:
        return ""
    last = max(over, key=lambda one: one.over or 0.0)
    words = tr("{code} broke at {at} and has held again for 10 s, as of {time}.", code=last.code,
              at=format_clock(last.at), time=format_clock(last.over or 0.0))  # fmt: skip
    before = tr_n("So did {n} rule before it: see the journal.", "So did {n} rules before it: see the journal.",
                  len(over) - 1, n=format_count(len(over) - 1))  # fmt: skip
    return f"{words} {before}" if len(over) > 1 else words
