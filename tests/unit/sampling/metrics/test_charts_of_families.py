"""What a chart needs is said by a trait of some kind of cluster: adding a family's chart is adding its lines."""

from __future__ import annotations

from services.discovery.families.registry import registered
from services.facts.model import GroupFacts
from services.facts.numeric import group_values
from services.sampling.metrics.charts import load_charts


def test_that_every_chart_needs_what_some_family_has() -> None:
    traits = {trait for kind in registered().kinds for trait in kind.traits}
    assert {chart.needs for chart in load_charts()} <= {"", "replica", *traits}


def test_that_queues_of_a_group_that_were_not_read_are_missing_and_never_0() -> None:
    assert group_values(GroupFacts()) == {}
    assert group_values(GroupFacts(applier_queue=51, certify_queue=0)) == {
        "gr.applier_queue": 51.0,
        "gr.certify_queue": 0.0,
    }
