"""Everybody whom evidence names is told once, whatever he goes by, and nobody who is a host here is told at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.galera.log_peers import LogPeer, short
from services.facts.galera.primary_views import PrimaryView
from services.facts.model import GaleraMember
from services.procedures.catalogue.checks import all_named, gone_fields
from services.procedures.catalogue.checks import named_members as check_of
from services.procedures.catalogue.galera.bootstrap_after_crash.party import party
from services.procedures.plan.host_facts import Facts, HostFacts, Named, TwoPrimaries
from services.procedures.plan.parts.galera.traces import Trace
from services.procedures.plan.pasts.named import named_members
from tests.unit.procedures.facts_of_three import BLOCK, PASS, UUID, WARN, down, facts, galera, host

PAIR = ("n1", "n2")
U = {n: f"{n:08x}-eb1d-11f1-{n:04x}-13850f082d8d" for n in range(1, 6)}
ADDRESS = {n: f"10.0.0.{n}" for n in range(1, 6)}


def pair(*changed: HostFacts, **more: object) -> Facts:
    """Two members that are down; n1 and n2 know their own UUIDs."""
    own = {one.host: one for one in changed}
    hosts = tuple(own.get(name) or member(int(name[1])) for name in PAIR)
    return replace(facts(), members=PAIR, hosts=hosts, **more)


def member(number: int, **more: object) -> HostFacts:
    known = {"address": ADDRESS[number], "data_folder_gvwstate_own": U[number], "trace": Trace()}
    return down(f"n{number}", **{**known, **more})


def view(*numbers: int, names: dict[int, str] | None = None) -> PrimaryView:
    called = {n: f"n{n}" for n in numbers} | (names or {})
    return PrimaryView(UUID, 7, tuple((U[n], called[n]) for n in numbers))


def left_behind(*numbers: int) -> tuple[str, tuple[str, ...]]:
    return (f"{U[1]}:3", tuple(U[n] for n in numbers))


def test_that_a_member_of_a_view_left_behind_that_is_no_host_here_is_told_by_its_uuid() -> None:
    (found,) = named_members(pair(member(2, gvwstate=left_behind(1, 2, 3))))
    assert (found.name, found.by) == (U[3], ("gvwstate.dat of n2",))


def test_that_uuid_name_and_address_of_one_member_from_three_places_are_one() -> None:
    trace = Trace((view(1, 2, 3),), peers=(LogPeer(short(U[3]), address=ADDRESS[3]), LogPeer(name="n3")))
    seen = pair(member(2, gvwstate=left_behind(1, 2, 3), trace=trace))
    (found,) = named_members(seen, ("n3",))
    assert (found.name, found.addresses, found.uuids) == ("n3", (ADDRESS[3],), (U[3],))
    assert found.by == ("gvwstate.dat of n2", "the log of n2", "our own history")
    assert found.called == f"n3 ({ADDRESS[3]}, {U[3]})"


@pytest.mark.parametrize(
    "seen",
    [
        pair(member(2, gvwstate=left_behind(1, 2), trace=Trace((view(1, 2),)))),
        pair(member(2, gvwstate=left_behind(4, 2)), member(1, data_folder_gvwstate_own="")),  # n1 by another start
        pair(member(2, trace=Trace(peers=(LogPeer(short(U[4]), address=ADDRESS[1]),)))),
        pair(member(2, trace=Trace((PrimaryView(UUID, 7, ((U[4], "garb"),)),)))),
        pair(member(2, options_given=(("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1,10.0.0.2:4567"),))),
    ],
    ids=["both", "another start", "an address", "an arbitrator", "the option files"],
)
def test_that_a_host_here_is_nobody_else(seen: Facts) -> None:
    assert named_members(seen) == ()
    assert check_of(seen, blocks=True).verdict is PASS


def test_that_the_members_table_of_a_server_that_runs_and_our_sightings_name_too() -> None:
    group = galera(
        "n1", members=(GaleraMember(U[5], "n5", "10.0.0.5:0"),), incoming_addresses=("10.0.0.4:3306", "AUTO")
    )
    apart = TwoPrimaries(UUID, 1.0, (("n1",), ("n9",)))
    seen = pair(host("n1", group=group, address=ADDRESS[1], trace=Trace()), two_primaries=(apart,))
    assert [one.name for one in named_members(seen)] == ["10.0.0.4", "n5", "n9"]


def test_that_a_donor_named_by_an_option_counts() -> None:
    seen = pair(member(1, options_given=(("mysqld", "wsrep_sst_donor", "n2,db-c,"),)))
    assert [one.name for one in named_members(seen)] == ["db-c"]


def test_that_a_nodes_earlier_start_that_its_own_log_tells_is_nobody_else() -> None:
    seen = pair(
        member(1, trace=Trace(peers=(LogPeer(short(U[4]), own=True),))), member(2, gvwstate=left_behind(4, 2, 3))
    )
    assert [(one.name, one.maybe) for one in named_members(seen)] == [(U[3], ())]
    older = pair(  # Galera 3 writes the first group of a UUID alone
        member(1, trace=Trace(peers=(LogPeer(U[4][:8], own=True),))), member(2, gvwstate=left_behind(4, 2, 3))
    )
    assert [one.name for one in named_members(older)] == [U[3]]


def test_that_a_log_that_came_with_a_cloned_disk_makes_no_other_member_its_host() -> None:
    cloned = Trace(peers=(LogPeer(short(U[3]), own=True),))
    by_name = Trace((view(1, 2, 3),))
    by_address = Trace(peers=(LogPeer(short(U[3]), address=ADDRESS[3]),))
    for told in (by_name, by_address):
        seen = pair(member(1, trace=cloned), member(2, trace=told))
        assert [one.uuids for one in named_members(seen)] in [[(U[3],)], [(short(U[3]),)]]


def test_that_of_two_bare_uuids_and_one_host_left_over_one_may_be_the_host_and_both_are_told() -> None:
    seen = pair(member(1, data_folder_gvwstate_own=""), member(2, gvwstate=left_behind(4, 2, 3)))
    found = named_members(seen)
    assert [(one.name, one.maybe) for one in found] == [(U[3], ("n1",)), (U[4], ("n1",))]
    check = check_of(replace(seen, named=found), blocks=True)
    assert "it may be n1 before a restart; this is not known" in check.evidence
    (answer,) = check.answers
    assert answer.values == (f"{U[3]},{U[4]}",), "one word, as it is pasted"


def test_that_a_meeting_that_galera_3_tells_by_eight_letters_is_the_member_of_the_whole_uuid() -> None:
    trace = Trace(peers=(LogPeer(U[3][:8], address=ADDRESS[3]),))
    (found,) = named_members(pair(member(2, gvwstate=left_behind(1, 2, 3), trace=trace)))
    assert (found.addresses, found.uuids) == ((ADDRESS[3],), (U[3],))


def test_that_two_members_of_one_name_are_told_apart_by_their_uuids() -> None:
    same = view(1, 2, 3, names={1: "n1", 2: "db", 3: "db"})
    seen = pair(member(2, node_name="db", trace=Trace((same,))))
    assert [one.name for one in named_members(seen)] == [U[3]]


def test_that_a_name_of_several_addresses_is_several_members_and_one_of_each_family_is_one() -> None:
    option = (("mysqld", "wsrep_cluster_address", "gcomm://db"),)
    several = pair(member(1, options_given=option, starting_addresses=(("db", tuple(ADDRESS.values())[:4]),)))
    assert [one.name for one in named_members(several)] == ["10.0.0.3", "10.0.0.4"]
    one = pair(member(1, options_given=option, starting_addresses=(("db", ("10.0.0.2", "fe80::2")),)))
    assert named_members(one) == ()


def test_that_a_name_that_is_no_plain_word_is_never_what_a_person_types() -> None:
    odd = PrimaryView(UUID, 7, ((U[3], "n1, n2; rm -rf /"),))
    (found,) = named_members(pair(member(2, trace=Trace((odd,)))))
    assert found.name == U[3]
    borrowed = PrimaryView(UUID, 7, ((U[1], "n1"), (U[3], "N1")))  # a host's own name in other letters
    assert all(one.name != "N1" for one in named_members(pair(member(2, trace=Trace((borrowed,))))))


def test_that_a_host_of_the_inventory_that_a_run_does_not_read_is_known_all_the_same() -> None:
    trace = Trace((view(1, 2, 3),), peers=(LogPeer(short(U[3]), address=ADDRESS[3]),))
    seen = pair(member(2, trace=trace))
    assert named_members(seen, beside=(("spare", ADDRESS[3]),)) == ()


def test_that_nothing_is_said_of_more_than_thirty_two() -> None:
    many = tuple(LogPeer(name=f"x{n}") for n in range(300))
    assert len(named_members(pair(member(2, trace=Trace(peers=many))))) == 32


def test_that_an_unknown_one_blocks_a_bootstrap_beyond_any_override_and_elsewhere_is_not_known() -> None:
    seen = pair(named=(Named("n3", addresses=(ADDRESS[3],), by=("gvwstate.dat of n2",)),))
    check = check_of(seen, blocks=True)
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert "n3 (10.0.0.3): named by gvwstate.dat of n2, but not queried" in check.evidence
    assert [answer.values for answer in check.answers] == [("n3",)]
    calm = check_of(seen)
    assert (calm.unknown, calm.verdict, calm.absolute) == (True, WARN, False)


def test_that_it_is_accepted_by_name_for_a_run_or_in_the_inventory_for_good() -> None:
    asked = pair(named=(Named("n3", addresses=(ADDRESS[3],), by=("gvwstate.dat of n2",)),))
    assert check_of(asked, gone=("n3",), blocks=True).verdict is WARN
    retired = replace(asked, named=named_members(pair(member(2, gvwstate=left_behind(1, 2, 3))), (), (U[3],)))
    assert (retired.named[0].retired, check_of(retired, blocks=True).verdict) == (True, PASS)


def test_that_one_that_listens_is_not_off_whatever_a_person_said() -> None:
    heard = Named("n3", by=("the log of n2",), listening=("n1 sees a listener at 10.0.0.3 port 4567",))
    for seen in (pair(named=(heard,)), pair(named=(replace(heard, retired=True),))):
        check = check_of(seen, gone=("n3",), blocks=True)
        assert (check.verdict, check.answers) == (BLOCK, ())
        assert "n3 is not off: n1 sees a listener at 10.0.0.3 port 4567" in check.evidence


def test_that_its_addresses_are_tried_right_before_the_act_and_of_one_that_retired_the_groups_port_alone() -> None:
    old = Named("n4", addresses=("10.0.0.4",), retired=True)
    asked = party(pair(named=(Named("n3", addresses=(ADDRESS[3],)), old)), PAIR, ("n3",)).none_is_primary()
    assert (asked.hosts, asked.accounted) == (PAIR, ())
    assert asked.ways == (("10.0.0.3", 3306), ("10.0.0.3", 4567), ("10.0.0.4", 4567))


STRANGER = (Named("n9", ("n9",), ("10.0.0.9",), by=("the log of n1",)),)


def test_that_in_a_component_that_accounts_for_everybody_it_is_told_and_blocks_nothing() -> None:
    calm = facts(named=STRANGER)
    assert all_named(calm, {}).unknown
    assert gone_fields(calm) == ()


@pytest.mark.parametrize(
    "group",
    [
        {"cluster_size": 4},
        {"members": tuple(GaleraMember(name=f"n{n}") for n in (1, 2, 3, 9))},
        {"cluster_status": "non-Primary"},
    ],
    ids=["a size that is another", "a table that names more", "no member of it"],
)
def test_that_in_every_procedure_it_blocks_until_accepted_by_name_where_the_component_does_not_rule_it_out(
    group: dict[str, object],
) -> None:
    seen = facts(host("n1", group=galera("n1", **group)), named=STRANGER)
    check = all_named(seen, {})
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert [answer.values for answer in check.answers] == [("n9",)]
    assert [field.name for field in gone_fields(seen)] == ["gone"]
    assert all_named(seen, {"gone": "n9"}).verdict is WARN
