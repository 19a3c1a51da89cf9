"""What a freeze is judged by: the disk it may take, where the donor stands, what an earlier one left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.procedures.catalogue.galera.freeze_gcache import checks as own
from services.procedures.conditions.galera.membership.flow_control import FlowControlBelow
from services.procedures.plan.checks import Verdict
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts, HostFacts
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.catalogue.freeze_gcache.test_freeze_plan import FREEZE
from tests.unit.procedures.host_of import changed, host_of

PAGES = 2 * 128 * 2**20


def _donor(**more: object) -> Facts:
    facts = facts_of(whole("n1", "n2", "n3"))
    hosts = tuple(changed(h, **more) if h.host == "n1" else h for h in facts.hosts)
    return replace(facts, hosts=hosts)


@pytest.mark.parametrize(
    ("peak", "free", "verdict", "said"),
    [
        (0, PAGES + 1_500_000, Verdict.PASS, "10.0 kB/s over 2 s * 100 s"),
        (0, PAGES + 1_499_999, Verdict.BLOCK, "10.0 kB/s over 2 s * 100 s"),
        (20_000, PAGES + 2_999_999, Verdict.BLOCK, "20.0 kB/s as you entered * 100 s"),
        (20_000, PAGES + 3_000_000, Verdict.PASS, "20.0 kB/s as you entered * 100 s"),
        (5_000, PAGES + 1_500_000, Verdict.PASS, "10.0 kB/s over 2 s * 100 s"),
    ],
)
def test_that_the_disk_is_reckoned_with_the_higher_of_what_is_measured_and_what_the_person_expects(
    peak: int, free: int, verdict: Verdict, said: str
) -> None:
    check = own.disk(_donor(gcache_disk_free=free), "n1", 100.0, 0, peak)
    assert check.verdict is verdict
    assert said in check.evidence


def test_that_a_persons_rate_stands_where_none_could_be_measured() -> None:
    assert own.disk(_donor(rates=None), "n1", 100.0, 0).verdict is Verdict.BLOCK
    assert own.disk(_donor(rates=None), "n1", 100.0, 0, 20_000).verdict is Verdict.PASS


def test_that_a_segment_that_is_not_known_is_no_pass() -> None:
    assert own.segments(_donor(), "n1", "n3").verdict is Verdict.PASS
    unread = replace(_donor(), hosts=(HostFacts("n1"), HostFacts("n3")))
    check = own.segments(unread, "n1", "n3")
    assert (check.verdict, check.evidence) == (Verdict.WARN, "n1: not known, n3: not known")


def test_that_dead_pages_are_named_with_the_command_that_removes_them_and_live_ones_are_not() -> None:
    pages = (("gcache.page.000001", 128 * 2**20, 0.5), ("gcache.page.000002", 128 * 2**20, 2.0))
    check = own.stale_pages(_donor(gcache_pages=pages), "n1")
    assert check.verdict is Verdict.WARN
    assert check.try_ == ("After the cache is released: sudo rm /var/lib/mysql/gcache.page.000001",)
    unknown = replace(_donor(), hosts=(host_of("n1", gcache_pages=pages),))
    assert own.stale_pages(unknown, "n1").verdict is Verdict.WARN


def test_that_flow_control_is_watched_while_the_node_comes_back() -> None:
    facts = facts_of(whole("n1", "n2", "n3"))
    given = {"node": "n3", "donor": "n1"}
    rules = FREEZE.plan(facts, filled(FREEZE.fields(facts, given), given)).watches
    rule = next(r for r in rules if isinstance(r.condition, FlowControlBelow))
    assert (rule.from_step, rule.to_step) == ("start-n3", "transfer-n3")


def test_that_the_command_for_dead_pages_holds_each_path_as_one_word_whatever_its_folder_is_called() -> None:
    """The account made /var/lib/mysql/'x '/etc/'shadow '/y, and a person was told to remove /etc/shadow by sudo."""
    pages = (("gcache.page.000001", 1, 0.5),)
    check = own.stale_pages(_donor(gcache_pages=pages, gcache_folder="/srv/x /etc/shadow /y"), "n1")
    assert check.try_[0].endswith("sudo rm '/srv/x /etc/shadow /y/gcache.page.000001'")
