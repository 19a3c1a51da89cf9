"""The guard of a frozen cache: what it runs, when it releases, and that it may log in is tried before the plan."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from services.connections.operator.roots_client import ROOTS_CLIENT
from services.procedures.catalogue.galera.freeze_gcache import checks as own
from services.procedures.catalogue.galera.freeze_gcache.guard import GUARD, Guard
from services.procedures.catalogue.galera.freeze_gcache.steps import freeze_plan
from services.procedures.conditions.galera.config.provider_option import ProviderOption
from services.procedures.conditions.galera.transfer.cache import CacheFrozen, CacheReaches
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.plan.actions import Run, Several
from services.procedures.plan.checks import Verdict
from services.procedures.plan.condition import Kept
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.catalogue.freeze_gcache.test_freeze_plan import FREEZE
from tests.unit.procedures.host_of import changed

_ON = Guard("n1", "6f1e7d3c-1111", 1_800.0, "/gcache", 10**9)


def _facts(**more: object) -> Facts:
    facts = facts_of(whole("n1", "n2", "n3"))
    hosts = tuple(changed(h, **more) if h.host == "n1" else h for h in facts.hosts)
    return replace(facts, hosts=hosts)


def _plan(facts: Facts, **inputs: str) -> Plan:
    given = {"node": "n3", "donor": "n1", **inputs}
    return freeze_plan(facts, filled(FREEZE.fields(facts, given), given))


def _ends(tmp_path: Path, floor: int, seconds: int) -> str:
    """Run the guard's own words on this machine, with a client that only writes down what it was told."""
    (tmp_path / "mysql").write_text(f'#!/bin/bash\necho "${{@: -1}}" > {tmp_path}/told\n')
    (tmp_path / "mysql").chmod(0o755)
    argv = ("bash", "-c", GUARD, "pilothouse", "/", str(floor), str(seconds), "SET GLOBAL x='a=-1'", ROOTS_CLIENT)
    place = {"PATH": f"{tmp_path}:/usr/sbin:/usr/bin:/sbin:/bin"}
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60, env=place)
    assert (tmp_path / "told").read_text() == "SET GLOBAL x='a=-1'\n"
    return done.stdout


def test_that_the_guard_releases_at_once_when_the_disk_is_below_its_floor(tmp_path: Path) -> None:
    assert f"the floor is {2**62}" in _ends(tmp_path, floor=2**62, seconds=3_600)


def test_that_the_guard_releases_when_its_time_is_over_however_much_disk_is_free(tmp_path: Path) -> None:
    said = _ends(tmp_path, floor=0, seconds=0)
    assert said == "released: SET GLOBAL x='a=-1'\n"


def test_that_no_word_of_the_guard_is_expanded_by_systemd() -> None:
    for text in (GUARD, ROOTS_CLIENT):
        assert "${" not in text
        assert "$$" not in text
        assert "%" not in text


def test_that_a_guard_left_by_an_earlier_run_is_ended_before_the_new_one_begins() -> None:
    action = _ON.on().action
    assert isinstance(action, Several)
    words = [part.command.argv[:2] for part in action.actions if isinstance(part, Run)]
    assert words == [("bash", "-c"), ("systemctl", "stop"), ("systemd-run", f"--unit={_ON.unit}")]
    assert _ON.description.startswith("Pilothouse releases the gcache after 5400 s, or below 1000000000 bytes")


def test_that_the_freeze_begins_only_under_a_guard_that_still_has_half_an_hour_to_spare() -> None:
    plan = _plan(_facts())
    guard = next(c for c in plan.step("freeze").before if c == Guard("n1", plan.cluster_id, 1_800.0, "/var/lib/mysql",
                                                                     200 * 10**9).stays)  # fmt: skip
    assert getattr(guard, "at_most_s", 0) == 1_800.0
    assert not any("guard" in s.step_id for s in _plan(_facts(), guard="no").steps)


@pytest.mark.parametrize(
    ("login", "guard", "verdict"),
    [
        (True, True, Verdict.PASS),
        (None, True, Verdict.WARN),
        (False, True, Verdict.BLOCK),
        (False, False, Verdict.WARN),
    ],
)
def test_that_a_guard_which_can_not_log_in_is_no_guard(login: bool | None, guard: bool, verdict: Verdict) -> None:
    check = own.guard_login(_facts(root_login_works=login, root_login_said="Access denied"), "n1", guard=guard)
    assert (check.code, check.verdict, check.absolute) == ("GUARD-LOGIN", verdict, verdict is Verdict.BLOCK)
    if verdict is Verdict.BLOCK:
        assert [(answer.field, answer.values) for answer in check.answers] == [("guard", ("no",))]


def test_that_the_disk_is_told_with_what_the_guard_allows_and_where_it_ends() -> None:
    free = 2 * 128 * 2**20 + 10**9
    wide = own.disk(_facts(gcache_disk_free=10**12), "n1", 1_800.0, 0).evidence
    assert "the guard allows the freeze for 90 min, up to 0.35 GB" in wide
    near = own.disk(_facts(gcache_disk_free=free), "n1", 1_800.0, 10**9 - 3 * 10**7).evidence
    assert "but ends it at the floor" in near
    assert "it may fill the disk" in own.disk(_facts(), "n1", 1_800.0, 0, guard=False).evidence


# -- what is watched and compared --------------------------------------------------------------------------------------


def test_that_the_disk_is_watched_from_the_freeze_on_and_the_freeze_from_the_stop_on() -> None:
    rules = {rule.code: rule for rule in _plan(_facts(gcache_folder="/gcache")).watches}
    assert rules["DISK-FLOOR"].from_step == "freeze"
    assert isinstance(rules["DISK-FLOOR"].condition, FreeDisk)
    assert rules["DISK-FLOOR"].condition.path == "/gcache"
    assert rules["FREEZE-LOST"].condition == CacheFrozen(
        "n1", "gcache.freeze_purge_at_seqno", Kept("stopped_at"), "/gcache"
    )


@pytest.mark.parametrize(("mount", "metric"), [("/", "disk.data_free"), ("/gcache", "disk.gcache_free")])
def test_that_the_chart_shows_the_volume_that_is_watched(mount: str, metric: str) -> None:
    plan = _plan(_facts(data_folder_disk_mount="/", gcache_disk_mount=mount, gcache_folder="/gcache"))
    assert plan.charts[0].metric == metric
    assert {c.metric for c in plan.charts} >= {"ist.seqnos", "disk.gcache_pages"}


def test_that_the_start_and_the_undo_of_the_stop_compare_positions_before_the_node_is_started() -> None:
    plan = _plan(_facts())
    order = [s.step_id for s in plan.steps]
    reaches = CacheReaches("n3", "/var/lib/mysql", plan.cluster_id, ("n1", "n2"))
    assert order.index("reach-n3") == order.index("start-n3") - 1
    assert plan.step("reach-n3").already == (reaches,)
    undo = plan.step("stop-n3").undo
    assert undo is not None
    assert undo.consent is not None
    assert (undo.consent.unless, undo.consent.expect) == ((reaches,), "n3")
    assert undo.leaves == (TransferWas("n3", "IST", "", "stop-n3"),)
    assert ProviderOption("n1", "gcache.freeze_purge_at_seqno", ">=", "0") in plan.step("stop-n3").before


def test_that_a_cache_too_short_for_the_donor_selection_is_told_before_the_freeze() -> None:
    facts = _facts()
    node = facts.host("n1").node
    assert node is not None
    assert node.galera is not None
    short = replace(node, galera=replace(node.galera, cached_downto=995, last_committed=1_000))
    check = own.seqno_in_cache(_facts(node=short), "n1", "now", None, 1_800.0)
    assert (check.verdict, "not enough: at the return, near seqno 19000" in check.evidence) == (Verdict.WARN, True)
    assert own.seqno_in_cache(facts, "n1", "now", None, 1_800.0).verdict is Verdict.PASS
