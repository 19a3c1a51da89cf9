"""A group of MySQL Group Replication, drawn as the quorum it is. Invented facts: what real servers say is elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.discovery.changes import events_between
from services.discovery.clash import CLASH
from services.discovery.families.group_replication.kind import GROUP_REPLICATION
from services.discovery.looks.crawl import leads_of
from services.discovery.model import (
    ALL_DOWN,
    NO_PRIMARY,
    NO_PRIMARY_HEARD,
    ClusterSnapshot,
    EstateSnapshot,
    NodeView,
    Unasked,
)
from services.facts.model import GroupFacts, GroupMember, GroupRecovery, Problem
from services.types import Health, Reach
from tests.unit.discovery import group_scenes as g
from tests.unit.discovery import scenes as s


def told(cluster: ClusterSnapshot) -> dict[str, tuple[str, Health]]:
    return {n.name: (n.state, n.health) for n in cluster.nodes}


def parts(cluster: ClusterSnapshot) -> list[tuple[bool, tuple[str, ...], int, int, int | None]]:
    return [(c.primary, c.members, c.votes, c.votes_known, c.may_lose) for c in cluster.components]


def test_that_a_group_is_one_cluster_with_its_primary_its_votes_and_its_queues() -> None:
    busy = g.member(2, g.view(2, applier_queue=1500, certify_queue=7))
    cluster = s.only(s.estate(g.member(1), busy, g.member(3)))
    assert (cluster.kind, cluster.cluster_id, cluster.health) == (GROUP_REPLICATION, g.GROUP, Health.GOOD)
    assert told(cluster) == dict.fromkeys(("db1", "db2", "db3"), ("ONLINE", Health.GOOD))
    assert [n.role for n in cluster.nodes] == ["primary", "secondary", "secondary"]
    assert parts(cluster) == [(True, ("db1", "db2", "db3"), 3, 3, 1)]
    assert cluster.agreement == "Seen from db1, db2, db3 (they agree)"
    assert cluster.nodes[1].numbers == (
        ("applier queue", "1\u202f500", Health.WARN),
        ("certification queue", "7", Health.GOOD),
    )


def test_that_every_member_of_a_multi_primary_group_is_primary() -> None:
    rows = tuple(g.row(n, role="PRIMARY") for n in (1, 2, 3))
    cluster = s.only(s.estate(*(g.member(n, g.view(n, *rows, single_primary=False)) for n in (1, 2, 3))))
    assert [n.role for n in cluster.nodes] == ["primary"] * 3
    assert cluster.problems == ()


def test_that_one_seed_names_the_others_which_are_drawn_and_not_asked_before_a_person_says_so() -> None:
    seed = g.member(1)
    assert [(lead.address, lead.sure) for lead in leads_of(seed)][:2] == [("db2", True), ("db3", True)]
    assert ("db2", False) in [(lead.address, lead.sure) for lead in leads_of(seed)]
    unasked = tuple(Unasked(f"db{n}", f"db{n}", ("db1",), "db1") for n in (2, 3))
    cluster = s.only(s.estate(seed, unasked=unasked))
    assert told(cluster)["db2"] == ("not asked yet", Health.UNKNOWN)
    assert parts(cluster)[0][2:] == (3, 3, 1)
    assert {n.name: n.role for n in cluster.nodes} == {"db1": "primary", "db2": "secondary", "db3": "secondary"}


def test_that_the_minority_of_a_partition_is_no_primary_whatever_it_calls_itself() -> None:
    cluster = s.only(s.estate(g.apart(1, 1), g.apart(2, 2, 3), g.apart(3, 2, 3)))
    assert parts(cluster) == [(True, ("db2", "db3"), 2, 3, 0), (False, ("db1",), 1, 3, None)]
    one = next(n for n in cluster.nodes if n.name == "db1")
    assert (one.state, one.health, one.role) == ("ONLINE, no majority", Health.BAD, "")
    assert one.reason == "db1 reaches 1 of 3 members: no majority, writes wait; db2 and db3 continue without it"
    assert not cluster.observers_agree
    assert told(cluster)["db2"] == ("ONLINE", Health.WARN)


def test_that_a_group_all_of_whose_parts_are_minorities_has_no_primary() -> None:
    cluster = s.only(s.estate(g.apart(1, 1), g.apart(2, 2), g.apart(3, 3)))
    assert [c.primary for c in cluster.components] == [False] * 3
    assert ([p.code for p in cluster.problems], cluster.health) == ([NO_PRIMARY], Health.BAD)
    heard = s.only(s.estate(g.apart(1, 1), s.unreached(2, g.member(2)), s.unreached(3, g.member(3))))
    assert [p.code for p in heard.problems] == [NO_PRIMARY_HEARD]
    assert heard.silent == ("db2", "db3")


def test_that_after_the_loss_of_one_the_next_loss_is_one_too_many() -> None:
    rest = tuple(g.row(n) for n in (1, 2))
    before = s.estate(*(g.member(n) for n in (1, 2, 3)))
    killed = s.sql_gone(g.member(3), process_state="")
    cluster = s.only(s.estate(g.member(1, g.view(1, *rest)), g.member(2, g.view(2, *rest)), killed, previous=before))
    assert parts(cluster) == [(True, ("db1", "db2"), 2, 3, 0)]
    assert told(cluster)["db3"] == ("not running", Health.BAD)


@pytest.mark.parametrize("state", ["ERROR", "OFFLINE"])
def test_that_a_server_outside_its_group_is_bad_though_it_answers(state: str) -> None:
    rest = tuple(g.row(n) for n in (1, 2))
    out = g.left(3, state, machine=s.machine(3, group_error="Member was expelled from the group"))
    cluster = s.only(s.estate(g.member(1, g.view(1, *rest)), g.member(2, g.view(2, *rest)), out))
    node = next(n for n in cluster.nodes if n.name == "db3")
    assert (node.state, node.health, node.role, node.component) == (state, Health.BAD, "read only", "")
    assert "its log: Member was expelled from the group" in node.reason
    assert "accepts writes" not in node.reason
    assert parts(cluster)[0][1] == ("db1", "db2")


def test_that_a_server_outside_its_group_which_takes_writes_is_told_to_do_so() -> None:
    loose = s.server(3, server_uuid=g.uuid(3), read_only=False, super_read_only=False)
    cluster = s.only(s.estate(g.left(3, "OFFLINE", server=loose)))
    assert "it accepts writes that the group does not receive (super_read_only is OFF)" in cluster.nodes[0].reason
    assert [p.code for p in cluster.problems] == [NO_PRIMARY]


def test_that_a_member_whose_tables_were_not_read_is_not_known_and_never_good() -> None:
    unread = g.member(1, g.view(1, members=(), members_at=None), problems=(Problem("group", "No right.", "denied"),))
    cluster = s.only(s.estate(unread))
    assert told(cluster) == {"db1": ("state not known", Health.UNKNOWN)}
    assert cluster.nodes[0].reason == "No right."
    assert (cluster.components, cluster.agreement) == ((), "No member reports a view of the group")


def test_that_servers_whose_group_has_a_name_that_is_none_are_not_known_and_in_nobody_s_group() -> None:
    why = Problem("group", "its group name is not a UUID ('x'), so the group is not known", "group-name")
    odd = tuple(g.member(n, GroupFacts(member_id=g.uuid(n)), problems=(why,)) for n in (1, 2))
    snapshot = s.estate(*odd)
    assert [(c.kind, c.name, c.health) for c in snapshot.clusters] == [
        (GROUP_REPLICATION, "db1", Health.UNKNOWN),
        (GROUP_REPLICATION, "db2", Health.UNKNOWN),
    ]
    assert [n.reason for c in snapshot.clusters for n in c.nodes] == [why.sentence] * 2


def test_that_a_recovering_member_votes_and_is_on_its_way() -> None:
    rows = (g.row(1), g.row(2), g.row(3, "RECOVERING"))
    cluster = s.only(s.estate(*(g.member(n, g.view(n, *rows, applier_queue=40)) for n in (1, 2, 3))))
    assert told(cluster)["db3"] == ("RECOVERING", Health.TRANSFER)
    assert parts(cluster)[0][2:] == (3, 3, 1)


def test_that_an_answer_of_before_a_change_is_no_other_opinion() -> None:
    rest = tuple(g.row(n) for n in (1, 2))
    late = replace(g.member(2), sql_at=s.AT - 1)
    cluster = s.only(s.estate(g.member(1, g.view(1, *rest)), late))
    assert cluster.observers_agree
    assert parts(cluster)[0][1] == ("db1", "db2")


def test_that_a_majority_without_a_primary_waits_for_an_election() -> None:
    rows = (g.row(2), g.row(3))
    cluster = s.only(s.estate(*(g.member(n, g.view(n, *rows)) for n in (2, 3))))
    assert [p.code for p in cluster.problems] == ["no-primary-member"]


def test_that_a_group_that_is_down_stays_the_group_it_was() -> None:
    before = s.estate(*(g.member(n) for n in (1, 2, 3)))
    down = tuple(s.sql_gone(g.member(n), process_state="") for n in (1, 2, 3))
    cluster = s.only(s.estate(*down, previous=before))
    assert (cluster.kind, cluster.cluster_id) == (GROUP_REPLICATION, g.GROUP)
    assert [p.code for p in cluster.problems] == [ALL_DOWN]


def test_that_a_replica_of_a_member_stands_behind_the_group_with_its_channel() -> None:
    replica = s.plain(4, s.channel(2))
    cluster = s.only(s.estate(g.member(1), g.member(2), g.member(3), replica))
    assert [(e.source_id, e.replica_id) for e in cluster.replication] == [("db2", "db4")]
    assert told(cluster)["db4"] == ("replica of db2", Health.GOOD)
    assert parts(cluster)[0][1] == ("db1", "db2", "db3")


def test_that_members_of_a_copied_data_directory_are_told_apart_by_their_hosts() -> None:
    same = s.server(1, server_uuid=g.uuid(1))
    both = [
        g.member(n, g.view(n, g.row(1), member_id=g.uuid(1)), server=replace(same, hostname=f"db{n}")) for n in (1, 2)
    ]
    estate = s.estate(*both)
    assert len(s.only(estate).nodes) == 2
    assert any(p.code == "server-uuid-shared" for p in estate.problems)


def test_that_a_silent_member_is_still_counted_by_those_who_see_it() -> None:
    silent = s.unreached(3, g.member(3))
    cluster = s.only(s.estate(g.apart(1, 1, 2), g.apart(2, 1, 2), silent))
    node = next(n for n in cluster.nodes if n.name == "db3")
    assert (node.reach, node.health) == (Reach.NONE, Health.UNKNOWN)
    assert "db1 and db2 count it as a member" in node.reason
    assert parts(cluster)[0] == (True, ("db1", "db2"), 2, 3, 0)


def test_that_a_server_which_was_paused_and_tells_its_old_view_is_left_behind() -> None:
    rest = tuple(g.row(n) for n in (1, 2))
    resumed = replace(g.member(3, g.view(3, view_id="17:3")), sql_at=s.AT + 0.4)
    others = tuple(g.member(n, g.view(n, *rest, view_id="17:4")) for n in (1, 2))
    cluster = s.only(s.estate(*others, resumed))
    assert told(cluster)["db3"] == ("left behind", Health.BAD)
    assert [(c.primary, c.observers) for c in cluster.components] == [(True, ("db1", "db2")), (False, ("db3",))]
    assert cluster.components[0].members == ("db1", "db2")


def test_that_what_one_member_does_not_reach_is_told_before_the_other_notices() -> None:
    silent = s.unreached(3, g.member(3))
    cluster = s.only(s.estate(g.apart(1, 1, 2), g.member(2), silent))
    assert [c.members for c in cluster.components] == [("db1", "db2")]
    assert cluster.observers_agree


@pytest.mark.parametrize("number", ["17:99", "17:3", ""])
def test_that_what_a_member_does_not_reach_stays_told_whatever_number_another_view_has(number: str) -> None:
    silent = s.unreached(3, g.member(3))
    cluster = s.only(s.estate(g.apart(1, 1, 2), g.member(2, g.view(2, view_id=number)), silent))
    assert cluster.health is not Health.GOOD
    lowest = min(c.votes for c in cluster.components if c.primary)
    assert (lowest, cluster.components[0].votes_known) == (2, 3)


def test_that_members_who_disagree_about_a_third_in_different_views_are_told_to_disagree() -> None:
    for third in (s.unreached(3, g.member(3)), g.member(3)):
        cluster = s.only(s.estate(g.apart(1, 1, 2), g.member(2, g.view(2, view_id="17:99")), third))
        assert not cluster.observers_agree
        assert "views-differ" in {p.code for p in cluster.problems}
        assert "db1 reaches db1 and db2: 2 of 3 members" in cluster.agreement
        assert cluster.health is Health.BAD


def test_that_members_of_one_view_who_miss_different_ones_are_told_to_disagree() -> None:
    everyone = (1, 2, 3, 4, 5)
    answers = (g.apart(1, 1, 2, 3, 5, of=everyone), g.apart(2, 1, 2, 3, 4, of=everyone))
    cluster = s.only(s.estate(*answers))
    assert not cluster.observers_agree


def test_that_a_member_that_a_newer_view_left_out_is_no_disagreement() -> None:
    rest = tuple(g.row(n) for n in (1, 2))
    cluster = s.only(s.estate(g.apart(1, 1, 2), g.member(2, g.view(2, *rest, view_id="17:4"))))
    assert (cluster.observers_agree, [c.votes for c in cluster.components]) == (True, [2])


def test_that_a_member_whose_host_says_it_is_dead_counts_no_more_while_others_still_list_it() -> None:
    killed = s.sql_gone(g.member(3), process_state="")
    cluster = s.only(s.estate(g.member(1), g.member(2), killed))
    assert parts(cluster) == [(True, ("db1", "db2"), 2, 3, 0)]
    assert told(cluster) == {
        "db1": ("ONLINE", Health.GOOD),
        "db2": ("ONLINE", Health.GOOD),
        "db3": ("not running", Health.BAD),
    }


def test_that_a_server_in_offline_mode_is_bad_and_its_log_says_why() -> None:
    out = s.sql_gone(g.member(3), code="offline-mode", group_error="Member was expelled from the group")
    rest = tuple(g.row(n) for n in (1, 2))
    cluster = s.only(s.estate(g.member(1, g.view(1, *rest)), g.member(2, g.view(2, *rest)), out))
    node = next(n for n in cluster.nodes if n.name == "db3")
    assert (node.state, node.health) == ("offline mode", Health.BAD)
    assert "its log: Member was expelled from the group" in node.reason


def test_that_a_member_under_two_addresses_is_drawn_once_while_nothing_it_says_differs() -> None:
    bare = replace(g.member(2), machine=None, reach=Reach.SQL_ONLY)
    again = replace(bare, host="10.9.9.9", address="10.9.9.9")
    cluster = s.only(s.estate(g.member(1), bare, again, g.member(3)))
    assert sorted(n.name for n in cluster.nodes) == ["db1", "db2", "db3"]
    other = replace(again, server=s.server(2, server_uuid=g.uuid(2), hostname="copy", server_id=777))
    assert len(s.only(s.estate(g.member(1), bare, other, g.member(3))).nodes) == 4


def test_that_a_member_which_clones_or_can_not_fetch_is_told_apart_from_one_that_catches_up() -> None:
    def of(**recovery: Any) -> NodeView:
        rows = (g.row(1), g.row(2), g.row(3, "RECOVERING"))
        own = g.view(3, *rows, applier_queue=5, recovery=GroupRecovery(**recovery))
        cluster = s.only(s.estate(*(g.member(n, g.view(n, *rows)) for n in (1, 2)), g.member(3, own)))
        return next(n for n in cluster.nodes if n.name == "db3")

    catching_up = of(donor_id=g.uuid(2), missing=95)
    assert catching_up.health is Health.TRANSFER
    assert catching_up.reason == "db3 is catching up with the group from db2; 100 transactions to go"
    assert catching_up.numbers[0] == ("recovery", "100 to go", Health.TRANSFER)
    cloning = of(clone_stage="FILE COPY", clone_done=70_000_000, clone_whole=84_000_000)
    assert cloning.reason == "db3 is cloning its data from a member (FILE COPY); 70 MB of 84 MB"
    assert cloning.numbers[0] == ("recovery", "70 MB of 84 MB", Health.TRANSFER)
    stuck = of(donor_id=g.uuid(2), error="Authentication plugin reported error")
    assert stuck.health is Health.WARN
    assert "it cannot fetch the missing transactions: Authentication plugin reported error" in stuck.reason


def _told_between(before: ClusterSnapshot, after: ClusterSnapshot) -> list[str]:
    old, new = (EstateSnapshot(at=s.AT + n, clusters=(one,)) for n, one in enumerate((before, after)))
    return [event.text for event in events_between(old, new) if event.kind == "view"]


def test_that_the_loss_of_the_majority_is_told_in_the_groups_own_words_and_a_clusters_in_galeras() -> None:
    whole = s.only(s.estate(*(g.member(n) for n in (1, 2, 3))))
    dead = [s.sql_gone(g.member(n), process_state="") for n in (2, 3)]
    lost = s.only(s.estate(g.apart(1, 1), *dead))
    (told_of_group,) = _told_between(whole, lost)
    assert told_of_group == f"{whole.name}: no part of the group has a majority"
    galera = s.only(s.estate(s.member(1), s.member(2), s.member(3)))
    alone = s.facts(1, view=s.galera(1, cluster_status="non-Primary", cluster_size=1))
    fallen = s.only(s.estate(alone, *(s.sql_gone(s.member(n), process_state="") for n in (2, 3))))
    assert [text for text in _told_between(galera, fallen) if "majority" in text] == []
    assert any("primary component" in text for text in _told_between(galera, fallen))


def test_that_two_hosts_that_show_one_id_in_a_group_and_contradict_each_other_are_a_clash() -> None:
    bare = replace(g.member(2), machine=None, reach=Reach.SQL_ONLY)
    copy = replace(bare, host="db9", address="10.9.9.9", server=s.server(9, server_uuid=g.uuid(2), hostname="db9"))
    estate = s.estate(g.member(1), bare, copy, g.member(3))
    assert [p.code for p in estate.problems if p.code == CLASH] == [CLASH]
    assert s.only(estate).health is not Health.GOOD
    outside = replace(copy, group=replace(g.view(2), members=()))  # it only has the other's auto.cnf
    assert [p for p in s.estate(g.member(1), bare, outside, g.member(3)).problems if p.code == CLASH] == []


def _odd(number: int) -> GroupMember:
    return replace(g.row(number), state="", state_word="PARTED")


def test_that_a_member_whose_state_is_a_word_that_nobody_knows_shows_it_and_is_never_green() -> None:
    rows = (g.row(1), g.row(2), _odd(3))
    cluster = s.only(s.estate(*(g.member(n, g.view(n, *rows)) for n in (1, 2, 3))))
    odd = cluster.nodes[2]
    assert (odd.state, odd.health) == ("state not known", Health.UNKNOWN)
    assert "'PARTED'" in odd.reason
    assert parts(cluster) == [(True, ("db1", "db2"), 2, 3, None)]  # it counts, and how many may be lost is not known


def test_that_two_members_in_a_state_that_nobody_knows_leave_open_whether_there_is_a_majority() -> None:
    rows = (g.row(1), _odd(2), _odd(3))
    cluster = s.only(s.estate(*(g.member(n, g.view(n, *rows)) for n in (1, 2, 3))))
    assert told(cluster)["db1"] == ("ONLINE", Health.UNKNOWN)
    assert "whether that is a majority is not known" in cluster.nodes[0].reason
    assert [one.code for one in cluster.problems] == [NO_PRIMARY_HEARD]
    assert cluster.health is Health.UNKNOWN
