"""Each shared check: passes, warns and blocks where its page says so, with the values that made it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.facts.model import MachineFacts, Problem, ServerFacts
from services.procedures.catalogue import checks as preflight
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, LockSeen
from services.procedures.plan.parts.galera.links import Link
from services.types import Flavour
from tests.unit.discovery.families.test_two_primaries import split
from tests.unit.discovery.scenes import only
from tests.unit.procedures.facts_of_three import (
    BLOCK,
    NAMES,
    OTHER,
    PASS,
    UUID,
    WARN,
    down,
    facts,
    galera,
    gone,
    host,
)


def links(to: str, **outcomes: str) -> tuple[Link, ...]:
    given = {"p4567": "open", "p4444": "refused", "p4568": "refused", **outcomes}
    return tuple(Link(to, "10.0.0.1", int(port[1:]), what, what) for port, what in given.items())  # type: ignore[arg-type]


def test_that_a_whole_cluster_passes_the_health_gate() -> None:
    check = preflight.health_gate(facts(), NAMES)
    assert check.verdict is PASS
    assert "n2: Primary Synced, size 3, conf_id 7" in check.evidence
    assert not check.absolute


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cluster_status": "non-Primary"}, "n2 is non-Primary, not Primary"),
        ({"local_state": 2, "local_state_comment": "Donor/Desynced"}, "n2 is Donor/Desynced, not Synced"),
        ({"ready": False}, "wsrep_ready is not ON"),
        ({"desync_count": 1}, "wsrep_desync_count is 1"),
        ({"desync_count": None}, "wsrep_desync_count could not be read"),
        ({"state_uuid": OTHER}, OTHER),
        ({"state_uuid": ""}, "none"),
        ({"conf_id": 8}, "conf_id differs"),
        ({"cluster_size": 2}, "3 nodes are expected, but n2 sees 2"),
    ],
)
def test_that_the_health_gate_blocks_and_names_the_node_and_value(change: dict[str, Any], said: str) -> None:
    check = preflight.health_gate(facts(host("n2", group=galera("n2", **change))), NAMES)
    assert (check.code, check.verdict) == ("HEALTH-GATE", BLOCK)
    assert said in check.evidence
    assert check.try_


def test_that_members_primary_in_two_views_without_a_common_member_are_two_primary_components() -> None:
    told = preflight.health_gate(replace(facts(), cluster=only(split())), NAMES)
    assert (told.verdict, told.evidence) == (
        BLOCK,
        "two Primary Components: db1, db2 and db3; each accepts rows that the other never receives",
    )


def test_that_a_silent_member_and_an_empty_list_block_the_health_gate() -> None:
    assert "No route to host" in preflight.health_gate(facts(gone("n3")), NAMES).evidence
    assert preflight.health_gate(facts(), ()).verdict is BLOCK


def test_that_the_health_gate_tells_no_answer_no_server_and_a_refused_login_apart() -> None:
    def said(problem: Problem | None, *, up: bool | None) -> str:
        told = (problem,) if problem is not None else ()
        silent = replace(gone("n3"), server_up=up, problems=told)
        return preflight.health_gate(facts(silent), NAMES).evidence.partition(";")[0]

    assert said(Problem("ssh", "No route to host.", "unreachable"), up=None) == "n3 does not answer (No route to host)"
    hung = Problem("sql", "No answer within 3 s.", "timed-out")
    assert said(hung, up=True) == "the server of n3 does not answer (No answer within 3 s)"
    assert said(Problem("sql", "Port 3306 refused the connection.", "unreachable"), up=False) == "no server runs on n3"
    shut = Problem("sql", "The server refused the login.", "auth-failed")
    assert said(shut, up=True) == "the server of n3 could not be read (The server refused the login)"


def test_that_a_deliberate_donor_does_not_block_the_health_gate() -> None:
    desynced = galera("n2", local_state=2, local_state_comment="Donor/Desynced", desync_count=1)
    assert preflight.health_gate(facts(host("n2", group=desynced)), NAMES, but_desynced=("n2",)).verdict is PASS
    assert preflight.health_gate(facts(host("n2", group=desynced)), NAMES, but_desynced=("n1",)).verdict is BLOCK


def test_that_transfers_and_ddl_block_and_an_unread_process_list_warns() -> None:
    assert preflight.no_transfer_or_ddl(facts(), NAMES).verdict is PASS
    ddl = preflight.no_transfer_or_ddl(facts(host("n1", sessions_ddl=("ALTER TABLE by app",))), NAMES)
    assert (ddl.verdict, ddl.evidence) == (BLOCK, "n1: ALTER TABLE by app")
    donor = host("n2", group=galera("n2", desync_count=1))
    assert preflight.no_transfer_or_ddl(facts(donor), NAMES).verdict is BLOCK
    assert preflight.no_transfer_or_ddl(facts(donor), NAMES, but_desynced=("n2",)).verdict is PASS
    joining = host("n1", sst_in_progress=True, group=galera("n1", local_state=1))
    assert preflight.no_transfer_or_ddl(facts(joining), NAMES).verdict is BLOCK
    assert preflight.no_transfer_or_ddl(facts(down("n1", sst_in_progress=True)), NAMES).verdict is BLOCK
    assert preflight.no_transfer_or_ddl(facts(host("n1", sst_in_progress=True)), NAMES).verdict is PASS  # Synced
    assert preflight.no_transfer_or_ddl(facts(host("n1", sessions_clients=None)), NAMES).verdict is WARN


def test_that_a_transaction_that_outlasts_the_drain_warns() -> None:
    assert preflight.long_transactions(facts(), NAMES, 120).verdict is PASS
    slow = preflight.long_transactions(facts(host("n1", longest_transaction_s=121.0)), NAMES, 120)
    assert (slow.verdict, "open for 121 s" in slow.evidence) == (WARN, True)
    assert preflight.long_transactions(facts(host("n1", longest_transaction_s=None)), NAMES, 120).verdict is WARN


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, PASS),
        ({"provider_vendor": "Percona 4.7"}, BLOCK),
        ({"provider_suspect": True, "provider_vendor": ""}, BLOCK),
        ({"provider_vendor": ""}, WARN),
    ],
)
def test_that_a_foreign_provider_blocks_beyond_override(change: dict[str, Any], verdict: Verdict) -> None:
    checks = preflight.foreign_provider(facts(host("n2", group=galera("n2", **change))), NAMES)
    assert [k.verdict for k in checks] == [PASS, verdict, PASS]
    assert checks[1].absolute is (verdict is BLOCK)


@pytest.mark.parametrize(
    ("version", "verdict"),
    [((10, 11, 18), PASS), ((10, 11, 9), WARN), ((11, 4, 2), WARN), ((10, 6, 18), BLOCK), ((), BLOCK)],
)
def test_that_an_older_or_unknown_joiner_is_blocked(version: tuple[int, ...], verdict: Verdict) -> None:
    assert preflight.versions(facts(down("new", program_version=version)), "new", NAMES).verdict is verdict


def test_that_a_joiner_of_another_product_is_blocked() -> None:
    joiner = down("new", program_text="mysqld Ver 10.11.18 for Linux (Percona)")
    assert preflight.versions(facts(joiner), "new", NAMES).verdict is BLOCK


def test_that_a_lower_provider_protocol_blocks_and_a_mixed_group_warns() -> None:
    assert preflight.provider_protocol(facts(down("new")), "new", NAMES).verdict is PASS
    low = host("new", group=galera("new", proto_max=10))
    assert preflight.provider_protocol(facts(low), "new", NAMES).verdict is BLOCK
    mixed = facts(host("n2", group=galera("n2", proto_max=10)), down("new"))
    assert preflight.provider_protocol(mixed, "new", NAMES).verdict is WARN


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, PASS),
        ({"is_root": False}, BLOCK),
        ({"is_root": None}, BLOCK),
        ({"may_change": False}, BLOCK),
        ({"may_change": None}, WARN),
        ({"may_change": None, "server_up": False}, PASS),
    ],
)
def test_that_missing_rights_block_before_anything_is_half_done(change: dict[str, Any], verdict: Verdict) -> None:
    assert preflight.operator_rights(facts(host("n1", **change)), ("n1",))[0].verdict is verdict


def test_that_of_a_host_which_nobody_reached_the_way_is_to_be_repaired_and_no_right_given() -> None:
    (lost,) = preflight.operator_rights(facts(gone("n1")), ("n1",))
    assert lost.verdict is BLOCK
    assert lost.try_ == ("Repair the SSH connection to n1, then check again.",)
    (weak,) = preflight.operator_rights(facts(host("n1", is_root=False)), ("n1",))
    assert weak.try_[0].startswith("Grant the login sudo")


def test_that_another_consoles_lock_blocks_and_names_its_owner() -> None:
    assert preflight.lock_free(facts(), NAMES).verdict is PASS
    held = LockSeen("anna@desk", "17", 1.0, "add-node", UUID)
    check = preflight.lock_free(facts(host("n2", lock=held)), NAMES)
    assert (check.verdict, "anna@desk runs add-node (run 17)" in check.evidence) == (BLOCK, True)
    blind = host("n2", problems=(Problem("lock", "No answer."),))
    assert preflight.lock_free(facts(blind), NAMES).verdict is WARN


@pytest.mark.parametrize(("offset", "verdict"), [(0.1, PASS), (-0.8, PASS), (2.0, WARN), (-40.0, BLOCK), (None, WARN)])
def test_that_clocks_are_compared_with_one_another(offset: float | None, verdict: Verdict) -> None:
    seen = host("n2")
    assert seen.node is not None
    seen = replace(seen, node=replace(seen.node, machine=MachineFacts(clock_offset_s=offset)))
    assert preflight.clocks(facts(seen), NAMES).verdict is verdict
    assert preflight.clocks(facts(seen), NAMES, blocks=False).verdict is (WARN if verdict is BLOCK else verdict)


def test_that_a_configuration_that_the_server_refuses_blocks_and_an_unchecked_one_warns() -> None:
    fault = facts(host("n1", program_fault="unknown variable 'x=1'"), host("n2", program_checked=False))
    assert [k.verdict for k in preflight.config_valid(fault, NAMES)] == [BLOCK, WARN, PASS]


@pytest.mark.parametrize(
    ("donor", "verdict"),
    [
        ("", PASS), ("n2,", PASS), ("n2,n3,", PASS), ("n2", WARN), ("10.0.0.2,", BLOCK), ("nosuch,", BLOCK),
        ("n1,", BLOCK), ("n,", BLOCK), ("fd00::1,", BLOCK),
    ],
)  # fmt: skip
def test_that_donor_lists_are_judged_by_galeras_rules(donor: str, verdict: Verdict) -> None:
    seen = facts(host("n1", group=galera("n1", sst_donor=donor)))
    assert preflight.donor_names(seen, ("n1",))[0].verdict is verdict


def test_that_a_donor_list_of_a_stopped_node_is_read_from_its_option_files() -> None:
    seen = facts(down("n1", options_given=(("mysqld", "wsrep_sst_donor", "10.0.0.2"),)))
    assert preflight.donor_names(seen, ("n1",))[0].verdict is BLOCK


@pytest.mark.parametrize(
    ("there", "back", "verdict"),
    [
        ({}, {}, PASS),
        ({"p4567": "refused"}, {}, BLOCK),
        ({"p4444": "filtered"}, {}, BLOCK),
        ({}, {"p4568": "filtered"}, BLOCK),
        ({}, {"p4567": "refused"}, PASS),
        ({"p4444": "unknown"}, {}, WARN),
    ],
)
def test_that_ports_are_judged_in_both_directions(
    there: dict[str, str], back: dict[str, str], verdict: Verdict
) -> None:
    seen = facts(host("n1", links_tried=links("new", **back)), down("new", links_tried=links("n1", **there)))
    check = preflight.ports(seen, "new", ("n1",))[0]
    assert check.verdict is verdict, check


def test_that_ports_never_tried_are_no_pass() -> None:
    assert [k.verdict for k in preflight.ports(facts(down("new")), "new", ("n1", "n2"))] == [WARN, WARN]


def test_that_a_missing_sst_program_blocks_and_is_named() -> None:
    assert [k.verdict for k in preflight.sst_tools(facts(), NAMES)] == [PASS] * 3
    bare = preflight.sst_tools(facts(host("n2", tools_there=("socat", "mbstream"))), ("n1", "n2"))
    assert (bare[1].verdict, bare[1].evidence) == (BLOCK, "n2 does not have mariabackup or mariadb-backup")
    packed = host("n1", options_given=(("sst", "compressor", "/usr/bin/zstd -3"),))
    assert [k.verdict for k in preflight.sst_tools(facts(packed), ("n1", "n2"))] == [BLOCK, BLOCK]
    assert preflight.sst_tools(facts(host("n1", tools_there=())), ("n1",))[0].verdict is WARN
    strange = facts(*(host(n, group=galera(n, sst_method="clone")) for n in NAMES))
    assert preflight.sst_tools(strange, ("n1",))[0].verdict is WARN


def test_that_sst_sections_must_agree_but_file_names_may_differ() -> None:
    plain = (("mysqld", "wsrep_on", "ON"),)
    one = host("n1", options_given=(*plain, ("sst", "encrypt", "3"), ("sst", "tkey", "/a")))
    other = host("n2", options_given=(*plain, ("sst", "encrypt", "3"), ("sst", "tkey", "/b")))
    assert preflight.sst_section(facts(one, other), ("n1", "n2")).verdict is PASS
    check = preflight.sst_section(facts(one), NAMES)
    assert (check.verdict, "encrypt (n1: 3, n2: not set" in check.evidence) == (BLOCK, True)
    assert preflight.sst_section(facts(host("n1", options_given=())), NAMES).verdict is WARN


@pytest.mark.parametrize(
    ("state", "verdict"),
    [("ok", PASS), ("lacks-rights", BLOCK), ("not-local", BLOCK), ("refused", BLOCK), ("", WARN)],
)
def test_that_the_sst_account_is_judged_by_what_could_be_seen(state: str, verdict: Verdict) -> None:
    said = "the SST account lacks RELOAD" if verdict is BLOCK else ""
    donor = host("n1", sst_account_state=state, sst_account_sentence=said)
    found = preflight.sst_account(facts(donor), "n1")
    assert found.verdict is verdict
    assert said in found.evidence


@pytest.mark.parametrize(
    ("method", "flavour", "version", "verdict"),
    [
        ("rsync", Flavour.MARIADB, (10, 11), PASS),
        ("mariabackup", Flavour.MARIADB, (10, 11), WARN),
        ("xtrabackup-v2", Flavour.PXC, (8, 0, 36), PASS),
        ("xtrabackup-v2", Flavour.PXC, (5, 7, 44), WARN),
    ],
)
def test_that_no_account_is_asked_for_where_the_method_needs_none(
    method: str, flavour: Flavour, version: tuple[int, ...], verdict: Verdict
) -> None:
    donor = host("n1", sst_account_state="")
    server = ServerFacts(flavour=flavour, version_key=version)
    assert donor.node is not None
    node = replace(donor.node, server=server, galera=galera("n1", sst_method=method))
    assert preflight.sst_account(facts(replace(donor, node=node)), "n1").verdict is verdict


def test_that_left_over_sst_scripts_block_with_their_pid() -> None:
    left = facts(host("n1", sst_orphans=((901, 250.0, "wsrep_sst_mariabackup --role joiner"),)))
    check = preflight.sst_orphans(left, NAMES)[0]
    assert (check.verdict, check.try_) == (BLOCK, ("End process 901 on n1.",))
    assert (
        preflight.sst_orphans(facts(host("n1", processes_hidden=None, problems=(Problem("ps", "x"),))), NAMES)[
            0
        ].verdict
        is WARN
    )


@pytest.mark.parametrize(
    ("state", "absent", "verdict"),
    [
        (Grastate(UUID, 5), False, PASS), (Grastate(ZERO_UUID, -1), False, PASS), (None, True, PASS),
        (Grastate(OTHER, 5), False, BLOCK), (None, None, WARN), (None, False, WARN),
    ],
)  # fmt: skip
def test_that_another_clusters_data_blocks_beyond_override(
    state: Grastate | None, absent: bool | None, verdict: Verdict
) -> None:
    check = preflight.datadir_foreign(facts(host("n1", grastate=state, grastate_absent=absent)), "n1")
    assert (check.verdict, check.absolute) == (verdict, verdict is BLOCK)


SHARED: tuple[Callable[[Facts], Check | tuple[Check, ...]], ...] = (
    lambda f: preflight.health_gate(f, NAMES),
    lambda f: preflight.no_transfer_or_ddl(f, NAMES),
    lambda f: preflight.versions(f, "n1", NAMES),
    lambda f: preflight.operator_rights(f, NAMES),
    lambda f: preflight.clocks(f, NAMES),
    lambda f: preflight.config_valid(f, NAMES),
    lambda f: preflight.ports(f, "n1", NAMES),
    lambda f: preflight.sst_tools(f, NAMES),
    lambda f: preflight.sst_section(f, NAMES),
    lambda f: preflight.sst_account(f, "n1"),
    lambda f: preflight.datadir_foreign(f, "n1"),
    lambda f: preflight.foreign_provider(f, NAMES),
    lambda f: preflight.lock_free(f, NAMES),
    lambda f: preflight.sst_orphans(f, NAMES),
)


@pytest.mark.parametrize("check", SHARED)
def test_that_a_host_of_which_nothing_is_known_never_passes(
    check: Callable[[Facts], Check | tuple[Check, ...]],
) -> None:
    nothing = Facts(1.0, UUID, "lab", members=NAMES)
    found = check(nothing)
    for one in found if isinstance(found, tuple) else (found,):
        assert one.verdict is not PASS, one
        assert one.evidence
        assert one.why


def test_that_a_member_outside_the_primary_component_blocks_the_gate_of_all_members() -> None:
    lost = galera("n2", cluster_status="non-Primary", local_state=0, local_state_comment="Initialized", ready=False)
    check = preflight.health_gate(facts(host("n2", group=lost)), ("n1", "n3"))
    assert check.verdict is BLOCK
    assert "n2 belongs to this cluster and is not in its Primary Component: it reports non-Primary" in check.evidence


def test_that_two_hosts_that_show_one_uuid_of_the_group_block_the_health_gate() -> None:
    same = {"node_uuid": "0dd00002-e5aa-11f1-ae7d-76e16c615942"}
    twins = (host("n2", group=galera("n2", **same)), host("n3", group=galera("n3", **same)))
    check = preflight.health_gate(facts(*twins), NAMES)
    assert check.verdict is BLOCK
    assert "n2 and n3 report the same node UUID" in check.evidence


@pytest.mark.parametrize(
    ("up", "said"), [(True, "Stop the server of new first: once"), (None, "Stop the server of new first, if it")]
)
def test_that_a_way_is_opened_only_once_the_server_behind_it_is_stopped(up: bool | None, said: str) -> None:
    cut = links("n1", p4567="filtered")
    check = preflight.ports(facts(host("new", server_up=up, links_tried=cut)), "new", ("n1",))[0]
    assert check.try_[0].startswith(said)
    off = preflight.ports(facts(down("new", links_tried=cut)), "new", ("n1",))[0]
    assert off.try_ == ("Open these ports between the two hosts in their firewalls.",)
