"""Who can bring a joiner up to date, and what stands in its way: add-node's own judgement, number by number."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.facts.model import Problem
from services.facts.replication.write_rate import Rates
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.add_node.keeping import aside_possible
from services.procedures.catalogue.galera.shared import joining as own
from services.procedures.catalogue.galera.shared.estimate import Expected, donor_ranking, transfer_expected
from services.procedures.plan.host_facts import Facts, HostFacts
from tests.unit.procedures.facts_of_three import BLOCK, OTHER, PASS, UUID, WARN, down, facts, galera, gone, host
from tests.unit.procedures.host_of import changed

MEMBERS = ("n1", "n2")
SST, IST = Expected("SST", "no position", 30.0, data_bytes=100), Expected("IST", "cached", 5.0)


def ring(position: int | None, uuid: str = UUID, **downto: int | None) -> Facts:
    """n3 is down at this position; n1 and n2 keep what is newer than given."""
    kept = {"n1": 90_000, "n2": 90_000, **downto}
    members = (host(n, group=galera(n, cached_downto=c)) for n, c in kept.items())
    return facts(*members, down("n3", grastate=Grastate(uuid, position), data_folder_entries=30))


def test_that_donors_stand_by_their_clients_and_then_by_the_depth_of_their_cache() -> None:
    seen = ring(95_000, n1=90_000, n2=85_000)
    assert [(d.host, d.ist) for d in donor_ranking(seen, "n3")] == [("n2", True), ("n1", True)]
    busy = changed(seen.host("n2"), sessions_clients=3)
    seen = replace(seen, hosts=tuple(busy if h.host == "n2" else h for h in seen.hosts))
    assert [d.host for d in donor_ranking(seen, "n3")] == ["n1", "n2"]


def test_that_a_donor_tells_for_how_long_it_can_still_send_what_is_missed() -> None:
    seen = ring(95_000, n1=90_000, n2=85_000)
    found = donor_ranking(seen, "n3")[0]
    assert found.left_s == (95_000 - 85_117) / 10.0, "until the gap passes it, which moves with what is purged"
    assert found.reason == "IST possible for 988 s at the current rate, cached from 85000, 0 client sessions"
    idle = tuple(changed(h, rates=Rates(0.0, 0.0, 2.0)) for h in seen.hosts)
    found = donor_ranking(replace(seen, hosts=idle), "n3")[0]
    assert (found.left_s, found.reason) == (math.inf, "IST possible, cached from 85000, 0 client sessions")
    unknown = tuple(changed(h, rates=None) for h in seen.hosts)
    assert donor_ranking(replace(seen, hosts=unknown), "n3")[0].left_s is None


def test_that_a_donor_whose_cache_has_room_is_not_told_as_one_that_soon_purges_what_is_missed() -> None:
    young = ring(95_000, n1=94_900, n2=94_900)
    assert donor_ranking(young, "n3")[0].left_s == (95_000 - 94_939) / 10.0, (
        "without the ring's size what is cached is all there is"
    )
    members = (host(n, group=galera(n, cached_downto=94_900, gcache_size=128 * 2**20)) for n in MEMBERS)
    sized = replace(young, hosts=(*members, young.host("n3")))
    assert donor_ranking(sized, "n3")[0].left_s == (94_900 + 128 * 101 - 100_000) / 10.0, "until the gap rule passes it"
    assert own.transfer_kind(sized, "n3", transfer_expected(sized, "n3", "n1"), sst_ok=True).verdict is PASS


@pytest.mark.parametrize(
    ("position", "uuid", "said"),
    [
        (95_000, OTHER, "n3 has a different history"),
        (95_000, "", "n3 has no usable position"),
        (95_000, ZERO_UUID, "n3 has no usable position"),
        (-1, UUID, "the seqno of n3 is -1"),
        (None, UUID, "the seqno of n3 is -1"),
        (100_001, UUID, "n3 is ahead: it stopped at 100001, but the cluster is at 100000"),
        (79_998, UUID, "n1 caches 80000 and newer, but n3 needs 79999"),
        (80_100, UUID, "80100 is below the safety gap 80156"),
    ],
)
def test_that_each_reason_against_ist_is_told_with_its_numbers(position: int | None, uuid: str, said: str) -> None:
    seen = ring(position, uuid, n1=80_000, n2=80_000)
    assert not any(d.ist for d in donor_ranking(seen, "n3"))
    expected = transfer_expected(seen, "n3", "n1")
    assert expected.kind == "SST"
    assert expected.reason.startswith(said)


@pytest.mark.parametrize("kept", [0, None])
def test_that_a_node_that_keeps_nothing_is_no_donor_for_ist(kept: int | None) -> None:
    found = {d.host: d for d in donor_ranking(ring(99_999, n1=kept), "n3")}
    assert (found["n1"].ist, found["n1"].against) == (False, "n1 reports no cached range")
    assert found["n2"].ist


def test_that_a_member_that_is_not_synced_stands_last_and_is_not_promised_as_a_donor() -> None:
    seen = ring(99_999)
    desynced = galera("n1", local_state=2, local_state_comment="Donor/Desynced", cached_downto=10)
    seen = replace(seen, hosts=tuple(host("n1", group=desynced) if h.host == "n1" else h for h in seen.hosts))
    ranked = donor_ranking(seen, "n3")
    assert [(d.host, d.ist) for d in ranked] == [("n2", True), ("n1", False)]
    assert ranked[1].reason.startswith("Donor/Desynced, not Synced: never chosen")


def test_that_what_was_missed_is_counted_where_it_comes_by_ist() -> None:
    expected = transfer_expected(ring(95_000), "n3", "n2")
    assert (expected.kind, expected.write_sets) == ("IST", 5_000)


def test_that_a_joiner_that_is_ahead_is_refused_even_where_an_sst_is_accepted() -> None:
    seen = ring(100_001)
    expected = transfer_expected(seen, "n3", "n1")
    check = own.transfer_kind(seen, "n3", expected, sst_ok=True)
    assert (check.verdict, check.absolute) == (BLOCK, False)
    assert "n3 is ahead" in check.evidence
    assert [(a.field, a.values) for a in check.answers] == [("loser", ("n3",))]


@pytest.mark.parametrize(("sst_ok", "verdict"), [(True, PASS), (False, BLOCK)])
def test_that_an_sst_is_refused_where_it_was_not_accepted(sst_ok: bool, verdict: object) -> None:
    seen = ring(1)
    check = own.transfer_kind(seen, "n3", transfer_expected(seen, "n3", "n1"), sst_ok=sst_ok)
    assert check.verdict is verdict


def room(free: int | None, size: int | None, *, old: int | None = None) -> Facts:
    return facts(
        host("n1", data_size_in_bytes=size, rates=None), down("n3", data_folder_disk_free=free, data_size_in_bytes=old)
    )


@pytest.mark.parametrize(
    ("free", "size", "keep", "verdict"),
    [(1_100, 1_000, True, PASS), (1_099, 1_000, True, BLOCK), (1_099, 1_000, False, PASS)],
)
def test_that_a_copy_needs_a_tenth_more_than_the_donor_has_beside_what_is_kept(
    free: int, size: int, keep: bool, verdict: object
) -> None:
    check = own.disk(room(free, size, old=1), "n3", "n1", SST, keep=keep)
    assert check.verdict is verdict
    assert check.absolute is (verdict is BLOCK)


@pytest.mark.parametrize(
    ("free", "size", "said"),
    [
        (None, 100, "the free disk of n3 could not be read"),
        (100, None, "the size of the data of n1 could not be read"),
        (None, None, "the size of the data of n1 could not be read; the free disk of n3 could not be read"),
    ],
)
def test_that_room_that_is_not_known_blocks_but_may_be_overridden(
    free: int | None, size: int | None, said: str
) -> None:
    check = own.disk(room(free, size), "n3", "n1", SST, keep=True)
    assert (check.verdict, check.absolute, check.evidence) == (BLOCK, False, said)


def test_that_the_reason_why_the_disk_was_not_read_is_told() -> None:
    seen = facts(
        host("n1", data_size_in_bytes=1),
        down("n3", data_folder_disk_free=None, problems=(Problem("disk", "df: stale handle."),)),
    )
    assert "(df: stale handle)" in own.disk(seen, "n3", "n1", SST, keep=True).evidence


def test_that_an_ist_needs_no_room_for_a_copy() -> None:
    assert own.disk(room(0, 100), "n3", "n1", IST, keep=True).verdict is PASS


def named(**names: str) -> Facts:
    return facts(*(host(h, node_name=n, group=galera(h, node_name=n)) for h, n in names.items()), down("n3"))


@pytest.mark.parametrize(
    ("node_name", "names", "donor", "verdict", "said"),
    [
        ("c", {"n1": "a", "n2": "b"}, "n1", PASS, "members: a, b"),
        ("a", {"n1": "a", "n2": "b"}, "n2", BLOCK, "clashes with a (n1)"),
        ("node1", {"n1": "node10", "n2": "b"}, "n2", BLOCK, "clashes with node10 (n1)"),
        ("node10", {"n1": "node1", "n2": "b"}, "n2", BLOCK, "clashes with node1 (n1)"),
        ("c", {"n1": "node1", "n2": "node10"}, "n1", BLOCK, "the donor's name node1 also matches node10 (n2)"),
        ("c", {"n1": "node1", "n2": "node10"}, "n2", WARN, "node10 (n2) begins with node1 (n1)"),
        ("c", {"n1": "a", "n2": ""}, "n1", WARN, "the node name of n2 could not be read"),
    ],
)
def test_that_no_name_may_be_taken_for_another_least_of_all_the_donors(
    node_name: str, names: dict[str, Any], donor: str, verdict: object, said: str
) -> None:
    check = own.names(named(**names), "n3", node_name, donor, MEMBERS)
    assert check.verdict is verdict, check
    assert said in check.evidence
    assert bool(check.try_) is (verdict is BLOCK)


def test_that_a_host_of_which_nothing_is_known_never_passes_the_disk_and_name_checks() -> None:
    nothing = facts(gone("n1"), gone("n2"), gone("n3"))
    assert own.disk(nothing, "n3", "n1", transfer_expected(nothing, "n3", "n1"), keep=False).verdict is BLOCK
    assert own.names(nothing, "n3", "new", "n1", MEMBERS).verdict is WARN


def test_that_what_the_others_write_during_the_copy_needs_room_too() -> None:
    seen = facts(
        host("n1", data_size_in_bytes=1_000, rates=Rates(100.0, 1.0, 2.0)), down("n3", data_folder_disk_free=4_099)
    )
    assert own.disk(seen, "n3", "n1", SST, keep=True).verdict is BLOCK
    seen = facts(
        host("n1", data_size_in_bytes=1_000, rates=Rates(100.0, 1.0, 2.0)), down("n3", data_folder_disk_free=4_100)
    )
    assert own.disk(seen, "n3", "n1", SST, keep=True).verdict is PASS


@pytest.mark.parametrize("option", [("sst", "tmpdir", "/tmp/sst"), ("backup", "compress", "quicklz")])
def test_that_a_copy_that_is_unpacked_beside_itself_needs_twice_the_room(option: tuple[str, str, str]) -> None:
    seen = facts(
        host("n1", data_size_in_bytes=1_000, rates=None, options_given=(option,)),
        down("n3", data_folder_disk_free=2_099),
    )
    check = own.disk(seen, "n3", "n1", SST, keep=True)
    assert check.verdict is BLOCK
    assert "x 2.1 (it is decompressed next to it)" in check.evidence


def test_that_a_cache_that_is_purged_within_ten_minutes_is_a_warning() -> None:
    seen = ring(95_000, n1=90_000, n2=85_000)
    soon = own.transfer_kind(seen, "n3", transfer_expected(seen, "n3", "n1"), sst_ok=True)
    assert soon.verdict is WARN
    assert "n1 caches them for 8 min more at the current rate" in soon.evidence
    assert own.transfer_kind(seen, "n3", transfer_expected(seen, "n3", "n2"), sst_ok=True).verdict is PASS


def test_that_a_joiner_that_can_not_keep_up_with_the_writers_is_a_warning() -> None:
    seen = facts(host("n1", data_size_in_bytes=10**9, rates=Rates(1e6, 2_000.0, 2.0)), down("n3", grastate=None))
    expected = transfer_expected(seen, "n3", "n1")
    assert "may never become Synced" in own.transfer_kind(seen, "n3", expected, sst_ok=True).evidence
    slower = facts(host("n1", data_size_in_bytes=10**9, rates=Rates(1e6, 1_000.0, 2.0)), down("n3", grastate=None))
    assert transfer_expected(slower, "n3", "n1").seconds == pytest.approx(10.0 + 11.0 + 10.0 + 11.0)


@pytest.mark.parametrize(
    ("expected", "keep", "entries", "verdict", "said"),
    [
        (SST, True, 30, PASS, "is renamed"),
        (SST, False, 30, WARN, "the SST erases /var/lib/mysql, 5.00 GB, including its binary logs"),
        (SST, False, 0, PASS, "is renamed"),
        (IST, True, 30, PASS, "if an SST is needed after all, the SST erases it"),
    ],
)
def test_that_an_sst_that_erases_old_data_is_told(
    expected: Expected, keep: bool, entries: int, verdict: object, said: str
) -> None:
    seen = facts(
        down("n3", data_folder_path="/var/lib/mysql", data_size_in_bytes=5 * 10**9, data_folder_entries=entries)
    )
    check = aside_possible(seen, "n3", expected, keep=keep)
    assert check.verdict is verdict
    assert said in check.evidence


def test_that_transactions_that_nobody_else_has_are_never_erased_whatever_is_overridden() -> None:
    check = aside_possible(ring(100_001), "n3", SST, keep=False)
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert "the transactions that only this node has" in check.evidence
    assert aside_possible(ring(100_001), "n3", SST, keep=True).verdict is PASS


def test_that_a_donor_that_is_written_to_or_leaves_nobody_beside_it_is_a_warning() -> None:
    writer = facts(host("n1", sessions_clients=9), down("n3"))
    assert own.donors_stay(writer, "n1", SST).verdict is WARN
    assert own.donors_stay(writer, "n1", IST).verdict is PASS
    assert own.donors_stay(writer, "n2", SST).verdict is PASS
    assert own.donors_stay(facts(down("n2"), down("n3")), "n1", IST).verdict is WARN


def test_that_what_a_new_nodes_own_files_say_of_transfers_blocks_where_the_donor_says_nothing_of_it() -> None:
    donor = host("n1", options_given=(("sst", "compressor", "zstd"),))
    mixed = facts(donor, down("n3", options_given=(("sst", "encrypt", "4"), ("sst", "compressor", "gzip"))))
    check = own.sst_section_copied(mixed, "n3", "n1")
    assert check.verdict is BLOCK
    assert check.evidence == "encrypt = 4 remains in the files of n3; copied from n1: compressor = zstd"
    assert own.sst_section_copied(facts(donor, down("n3")), "n3", "n1").verdict is PASS


@pytest.mark.parametrize(
    ("names", "verdict", "said"),
    [
        ({"n1": "a", "n2": "b"}, PASS, "no other member's name begins with a"),
        ({"n1": "node1", "n2": "node10"}, BLOCK, "node1 of n1 is a prefix of node10 (n2)"),
        ({"n1": "n", "n2": "b"}, BLOCK, "n of n1 is a prefix of n3 (n3, the node itself)"),
        ({"n1": "", "n2": "b"}, WARN, "the node name of n1 could not be read"),
    ],
)
def test_that_a_donors_name_that_means_others_too_is_refused(names: dict[str, str], verdict: object, said: str) -> None:
    check = preflight.named_donor(named(**names), "n3", "n1")
    assert check.verdict is verdict
    assert said in check.evidence


def test_that_a_stopped_server_that_may_be_a_clone_is_not_taken_for_one_of_its_own() -> None:
    clone = facts(down("new", program_text="mysqld Ver 8.0.36-28.1 (Percona XtraDB Cluster)"))
    check = own.server_uuids(clone, "new", MEMBERS)
    assert check.verdict is WARN
    assert "auto.cnf" in check.evidence
    assert own.server_uuids(facts(down("new")), "new", MEMBERS).verdict is PASS


def test_that_a_member_that_may_be_asked_instead_of_the_donor_only_warns_where_it_lacks_a_program() -> None:
    seen = facts(host("n2", tools_there=("socat",)), down("n3"))
    (check,) = own.other_tools(seen, "n1", MEMBERS)
    assert (check.code, check.host, check.verdict) == ("SST-TOOLS", "n2", WARN)


@pytest.mark.parametrize("up", [True, None])
def test_that_a_server_that_only_the_console_can_not_ask_is_never_stopped_while_the_others_count_it(
    up: bool | None,
) -> None:
    mute = replace(down("n3"), server_up=up)
    check = own.runs_now(facts(mute), "n3")
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert check.evidence.endswith("the 2 members count 3")
    assert own.runs_now(facts(down("n3")), "n3").verdict is PASS


def test_that_a_server_that_hangs_in_an_earlier_start_may_be_stopped_when_nobody_counts_it() -> None:
    left = (host(n, group=galera(n, cluster_size=2)) for n in MEMBERS)
    check = own.runs_now(facts(*left, replace(down("n3"), server_up=True)), "n3")
    assert check.verdict is WARN


def test_that_a_member_of_another_cluster_is_never_taken_away_from_it() -> None:
    theirs = host("n3", group=galera("n3", state_uuid=OTHER, cluster_name="billing"))
    check = own.runs_now(facts(theirs), "n3")
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert "billing" in check.evidence


def test_that_a_server_that_runs_by_itself_is_told_before_it_is_stopped() -> None:
    alone = host("n3", group=galera("n3", cluster_status="non-Primary"), sessions_clients=2)
    check = own.runs_now(facts(alone), "n3")
    assert check.verdict is WARN
    assert check.evidence == "a server runs on n3 with 2 client sessions; the run stops it"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (host("n3", group=galera("n3", cluster_status="non-Primary")), "n3 runs, its component is non-Primary"),
        (replace(down("n3"), server_up=True), "n3 runs, and its cluster could not be read"),
    ],
)
def test_that_no_node_is_started_while_another_server_runs_outside_the_primary_component(
    other: HostFacts, said: str
) -> None:
    seen = facts(down("n2"), other)
    check = own.runs_outside(seen, "n2")
    assert (check.verdict, check.absolute, check.evidence) == (BLOCK, True, said)
    assert check.try_ == ("Bring n3 back first (its history is compared), or stop its server.",)
    asked = procedure_named("add-node").preflight(seen, {"joiner": "n2"})
    assert "RUNS-OUTSIDE" in {check.code for check in asked if check.verdict is BLOCK}


def test_that_a_member_that_does_not_answer_may_run_outside_and_is_told() -> None:
    check = own.runs_outside(facts(down("n2"), gone("n3")), "n2")
    assert (check.verdict, check.absolute) == (WARN, False)
    assert "n3" in check.evidence


def test_that_a_stopped_member_a_spare_host_and_the_joiner_itself_are_nobody_outside() -> None:
    spare = host("new", group=galera("new", state_uuid=OTHER, cluster_status="non-Primary"))
    joiner = host("n2", group=galera("n2", cluster_status="non-Primary"))
    assert own.runs_outside(facts(joiner, down("n3"), spare), "n2").verdict is PASS


def test_that_a_data_folder_that_could_not_be_read_is_no_folder_that_needs_no_keeping() -> None:
    seen = facts(down("n3", data_folder_path="/var/lib/mysql", data_folder_entries=None))
    assert aside_possible(seen, "n3", SST, keep=True).verdict is WARN


@pytest.mark.parametrize(("gigabytes", "verdict"), [(1, WARN), (50, BLOCK)])
def test_that_the_data_of_a_server_that_never_was_a_node_are_not_erased_unasked(
    gigabytes: int, verdict: object
) -> None:
    seen = facts(
        down("new", grastate=None, grastate_absent=True, data_folder_entries=40, data_size_in_bytes=gigabytes * 2**30)
    )
    check = aside_possible(seen, "new", SST, keep=False)
    assert (check.verdict, check.absolute) == (verdict, False)
    assert aside_possible(seen, "new", SST, keep=True).verdict is PASS


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("/usr/sbin/mariadbd  Ver 10.11.18-MariaDB-deb12 for debian-linux-gnu on x86_64", "spare, MariaDB 10.11.18"),
        ("mysqld  Ver 8.0.36-28.1 for Linux (Percona XtraDB Cluster)", "spare, Percona XtraDB Cluster 8.0.36"),
        ("", "spare, no server program found"),
    ],
)
def test_that_a_spare_host_is_offered_with_its_product_and_version(program: str, shown: str) -> None:
    seen = replace(facts(down("new", program_text=program)), candidates=("new",))
    offered = dict(next(f for f in procedure_named("add-node").fields(seen, {}) if f.name == "joiner").choices)
    assert offered["new"] == shown
