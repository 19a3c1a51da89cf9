"""The option that a rolling restart writes: its nodes are judged by it, and a secret is never taken."""

from __future__ import annotations

import pytest

from services.procedures.catalogue import procedure_named
from services.procedures.conditions.galera.config.provider_option import ProviderOption
from services.procedures.plan.actions import EditOptions, WaitFor
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, WARN, facts, host

PROCEDURE = procedure_named("rolling-restart")
READ = (("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1,10.0.0.2"),)


def three(**more: object) -> Facts:
    given = {"options_given": READ, "temporary": (("/tmp", 10**9),), **more}
    return facts(*(host(name, **given) for name in NAMES))  # type: ignore[arg-type]


def checked(seen: Facts, option: str, value: str) -> dict[str, list[Check]]:
    given = {"option": option, "value": value}
    assert PROCEDURE.faults(seen, given) == ()
    found: dict[str, list[Check]] = {}
    for check in PROCEDURE.preflight(seen, given):
        found.setdefault(check.code, []).append(check)
    return found


@pytest.mark.parametrize(
    ("option", "value", "verdict", "absolute"),
    [
        ("innodb_force_recovery", "6", BLOCK, True),
        ("innodb-force-recovery", "1", BLOCK, True),
        ("loose_innodb_force_recovery", "1", BLOCK, True),
        ("innodb_force_recovery", "0", PASS, False),
        ("innodb_read_only", "ON", BLOCK, True),
        ("innodb_read_only", "OFF", PASS, False),
        ("read_only", "ON", WARN, False),
        ("super_read_only", "1", WARN, False),
        ("read_only", "OFF", PASS, False),
        ("wsrep_sst_method", "nonsense", BLOCK, False),
        ("wsrep_sst_method", "mariabackup", PASS, False),
        ("max_connections", "400", PASS, False),
    ],
)
def test_that_the_planned_value_is_judged_and_not_the_one_of_now(
    option: str, value: str, verdict: Verdict, absolute: bool
) -> None:
    (check,) = checked(three(), option, value)["OPTION"]
    assert (check.verdict, check.absolute) == (verdict, absolute)


@pytest.mark.parametrize(("option", "value"), [("innodb_force_recovery", "6"), ("innodb_read_only", "ON")])
def test_that_innodb_is_judged_on_each_node_as_it_will_start(option: str, value: str) -> None:
    found = checked(three(), option, value)["FORCED-RECOVERY"]
    assert [check.verdict for check in found] == [BLOCK] * 3
    assert all(f"{option} = {value}" in check.evidence for check in found)


def test_that_a_restart_which_takes_a_forced_recovery_out_is_not_held_up_by_it() -> None:
    left = three(options_given=(*READ, ("mysqld", "innodb_force_recovery", "1")))
    assert {c.verdict for c in checked(left, "max_connections", "400")["FORCED-RECOVERY"]} == {BLOCK}
    assert {c.verdict for c in checked(left, "innodb_force_recovery", "0")["FORCED-RECOVERY"]} == {PASS}


def test_that_files_that_were_not_read_stay_not_known_with_an_option_planned() -> None:
    found = checked(three(options_given=()), "max_connections", "400")
    assert all(c.unknown for code in ("JOINS-OTHERS", "FORCED-RECOVERY") for c in found[code])


def test_that_the_room_in_a_planned_tmpdir_is_not_known() -> None:
    assert {c.verdict for c in checked(three(), "max_connections", "4")["TEMP-SPACE"]} == {PASS}
    found = checked(three(), "tmpdir", "/srv/t")["TEMP-SPACE"]
    assert all(c.unknown and "/srv/t" in c.evidence for c in found)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("wsrep_sst_auth", "foo:bar"),
        ("wsrep-sst-auth", "foo:bar"),
        ("loose-wsrep_sst_auth", "foo:bar"),
        ("ssl_passphrase", "foo:bar"),
        ("wsrep_provider_options", "gcache.size=1G;socket.ssl_password=foo:bar"),
    ],
)
def test_that_a_secret_is_refused_before_any_check_or_plan_holds_it_and_the_way_to_give_it_is_told(
    option: str, value: str
) -> None:
    (fault,) = PROCEDURE.faults(three(), {"option": option, "value": value})
    assert fault.field == "value"
    assert "foo:bar" not in fault.sentence
    assert "work=yes" in fault.sentence


def test_that_a_key_of_the_providers_string_is_merged_into_it_and_the_others_are_kept_and_told() -> None:
    text = "gcs.fc_limit=77; gmcast.segment=0; gcache.size=128M"
    seen = three(options_given=(*READ, ("mysqld", "wsrep_provider_options", text)))
    given = {"option": "wsrep_provider_options", "value": "gcache.size=256M", "pause": "1 s"}
    (check,) = checked(seen, given["option"], given["value"])["OPTION"]
    assert "on its own it would drop gcs.fc_limit=77, gmcast.segment=0" in check.evidence
    merged = "gcs.fc_limit=77; gmcast.segment=0; gcache.size=256M"
    assert f"merged by key to '{merged}'" in check.evidence
    plan = PROCEDURE.plan(seen, given)
    written = [s.action for s in plan.steps if isinstance(s.action, EditOptions)]
    assert {action.options for action in written} == {(("wsrep_provider_options", merged),)}
    active = next(s.action for s in plan.steps if s.step_id == "n1:active")
    assert isinstance(active, WaitFor)
    assert active.conditions == (ProviderOption("n1", "gcache.size", "=", "256M"),)


def test_that_a_string_with_a_secret_beside_the_new_key_is_not_written_without_it() -> None:
    text = "gcs.fc_limit=77; socket.ssl_password=********"
    seen = three(options_given=(*READ, ("mysqld", "wsrep_provider_options", text)))
    (check,) = checked(seen, "wsrep_provider_options", "gcache.size=256M")["OPTION"]
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert "contains a secret" in check.evidence
