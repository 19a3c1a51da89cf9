"""What a report says of the time before and after a run, and when it says that nobody knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from services.errors import BadInput
from services.procedures.plan.model import Risk
from services.procedures.plan.run_model import RunState, RunView, StepState
from services.procedures.report.around import windows_around
from services.procedures.report.html import report_html
from services.procedures.report.markdown import report_markdown
from services.procedures.report.time import bars_of
from services.sampling.change.around import AROUND_S, SETTLE_S
from services.sampling.change.judge import LOAD, compare
from services.sampling.change.model import Asked, Comparison, Window
from services.sampling.metrics.catalogue import load_catalogue
from tests.unit.procedures.reports.test_report import GOOD, Writer, line
from tests.unit.sampling.change_series import cut_from, remembering, second_by_second

LATENCY = "disk.write_latency"


def ended() -> Writer:
    writer = Writer(GOOD)
    writer.step("freeze-n1", StepState.CHECKING).step("freeze-n1", StepState.ACTING)
    writer.step("freeze-n1", StepState.PROVING).step("freeze-n1", StepState.DONE)
    return writer.write(line.run_state(RunState.FAILED, "n2 is down."), line.run_state(RunState.LEFT, "So be it."))


def changes(view: RunView) -> tuple[float, float]:
    bars = [bar for n, shown in enumerate(view.steps, 1) for bar in bars_of(n, shown) if shown.step.risk != Risk.READS]
    return min(bar.start for bar in bars), max(bar.end for bar in bars)


def measured(after: float) -> Comparison:
    """Return a comparison of ten minutes each; the latency of n1 is `after` ms more in the second ones."""
    noise = remembering(np.random.default_rng(4), 2, 1_260, 0.5)
    step = np.where(np.arange(1_260) >= 630, after, 0.0)
    whole = {
        ("n1", LATENCY): second_by_second(8.0 + noise[0] + step, 0.0),
        ("n1", LOAD): second_by_second(1_000.0 + 30.0 * noise[1], 0.0),
    }
    asked = Asked(("n1",), Window(0.0, 600.0), Window(660.0, 1_260.0), (LATENCY, "no_such"))
    return compare(asked, cut_from(whole), load_catalogue())


def test_that_the_windows_lie_around_what_the_run_changed() -> None:
    view = ended().view()
    first, last = changes(view)
    before, after = windows_around(view, now=last + 1e6)
    assert before == Window(first - AROUND_S, first)
    assert after == Window(last + SETTLE_S, last + SETTLE_S + AROUND_S)
    _, short = windows_around(view, now=last + SETTLE_S + 200)
    assert short.length_s == pytest.approx(200)


def test_that_a_run_that_is_not_over_changed_nothing_or_just_ended_has_no_windows() -> None:
    view = ended().view()
    with pytest.raises(BadInput, match="ended less than a minute ago"):
        windows_around(view, now=changes(view)[1] + 30)
    with pytest.raises(BadInput, match="is not over"):
        windows_around(replace(view, state=RunState.FAILED), now=1e12)
    with pytest.raises(BadInput, match="changed nothing"):
        windows_around(Writer(GOOD).view(), now=1e12)


def test_that_a_report_shows_what_differs_first_and_folds_all_that_was_compared() -> None:
    writer = ended()
    html = report_html(writer.view(), writer.entries(), change=measured(3.0))
    text = report_markdown(writer.view(), writer.entries(), change=measured(3.0)).replace("\\", "")
    for told in ("Before and after", "1 metric differs", "higher, by a large margin", "All comparisons", "not known: "):
        assert told in html
        assert told in text
    shown, folded = text.split("## Before and after")[1].split("All comparisons")[0:2]
    assert LATENCY in shown
    assert "no_such" not in shown
    assert "no_such" in folded


def test_that_a_report_without_a_difference_has_no_table_that_looks_like_one() -> None:
    writer = ended()
    text = report_markdown(writer.view(), writer.entries(), change=measured(0.0))
    shown = text.split("## Before and after")[1].split("All comparisons")[0]
    assert "0 metrics differ, 1 shows no difference, 1 is not known" in shown
    assert "|" not in shown


def test_that_one_reason_for_all_is_said_once() -> None:
    writer = ended()
    asked = Asked(("n1", "n2"), Window(0.0, 600.0), Window(660.0, 1_260.0), (LATENCY, LOAD))
    nothing = compare(asked, cut_from({}), load_catalogue())
    text = report_markdown(writer.view(), writer.entries(), change=nothing).replace("\\", "")
    assert "Not known: This server does not report it." in text
    assert "All comparisons" not in text
    shown = report_markdown(writer.view(), writer.entries(), change="Run 47 changed nothing.")
    assert "Not measured: Run 47 changed nothing." in shown


def test_that_a_report_without_any_history_is_silent_about_it() -> None:
    writer = ended()
    assert "Before and after" not in report_markdown(writer.view(), writer.entries())
