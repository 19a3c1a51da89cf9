"""What a Galera cluster looks like from what its nodes say: quorum, islands, the lost, the joining."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.changes import events_between
from services.discovery.families.galera.kind import GALERA
from services.discovery.families.galera.views import may_lose
from services.facts.model import DiskFacts, GaleraMember, MachineFacts, NodeFacts, Problem
from services.types import Health, Reach
from tests.unit.discovery.scenes import (
    AT,
    STATE,
    address,
    estate,
    galera,
    group_uuid,
    machine,
    member,
    node,
    only,
    sql_gone,
    unreached,
)


def test_that_three_synced_nodes_are_one_primary_component_and_agree() -> None:
    cluster = only(estate(member(1), member(2), member(3)))
    assert (cluster.cluster_id, cluster.kind, cluster.name) == (STATE, GALERA, "orders")
    assert cluster.agreement == "Seen from db1, db2, db3 (they agree)"
    assert cluster.observers_agree
    (component,) = cluster.components
    assert component.primary
    assert component.members == component.observers == ("db1", "db2", "db3")
    assert (component.votes, component.votes_known, component.may_lose, component.view_id) == (3, 3, 1, "7")
    assert [n.state for n in cluster.nodes] == ["Synced"] * 3
    assert cluster.health is Health.GOOD


@pytest.mark.parametrize(
    ("weights", "lost"),
    [
        ((1, 1, 1), 1),
        ((1, 1), 0),
        ((1,), 0),
        ((1,) * 5, 2),
        ((3, 1, 1), 0),
        ((2, 2, 1, 1), 1),
        ((), 0),
        ((1, 1, 1, 1), 1),
    ],
)
def test_that_the_heaviest_nodes_are_counted_first_among_those_that_may_fail(
    weights: tuple[int, ...], lost: int
) -> None:
    assert may_lose(weights) == lost


def test_that_a_parted_node_is_an_island_and_the_observers_disagree() -> None:
    alone = member(3, cluster_status="non-Primary", cluster_size=1, conf_id=None, ready=False, members=(),
                   incoming_addresses=(f"{address(3)}:0",))  # fmt: skip
    two = [member(n, 3, cluster_size=2, incoming_addresses=tuple(f"{address(i)}:0" for i in (1, 2)), cluster_weight=2)
           for n in (1, 2)]  # fmt: skip
    snapshot = estate(*two, alone)
    cluster = only(snapshot)
    assert not cluster.observers_agree
    assert cluster.agreement == "db1 and db2 see each other; db3 sees only itself"
    primary, island = cluster.components
    assert (primary.primary, primary.members, primary.votes, primary.votes_known) == (True, ("db1", "db2"), 2, 3)
    assert (island.primary, island.members, island.may_lose) == (False, ("db3",), None)
    lost = node(snapshot, "db3")
    assert (lost.state, lost.health, lost.component) == ("non-Primary", Health.BAD, island.component_id)
    assert lost.reason == "db3 sees only itself; it refuses queries; db1 and db2 continue without it"
    assert cluster.health is Health.BAD


def test_that_a_frozen_gcache_is_said_whoever_froze_it() -> None:
    snapshot = estate(member(1, gcache_frozen_at=128), member(2), member(3))
    frozen = node(snapshot, "db1")
    assert (frozen.state, frozen.health) == ("Synced", Health.WARN)
    assert frozen.reason == "the gcache of db1 is frozen at 128: its disk fills until somebody releases it"


def test_that_merged_minorities_are_one_island_although_each_names_only_itself() -> None:
    """Seen on MariaDB 10.11: outside a primary component the other member's address is "unspecified"."""
    left = member(1, cluster_status="non-Primary", cluster_size=2, conf_id=None, members=(),
                  incoming_addresses=(f"{address(1)}:0", ""))  # fmt: skip
    right = member(2, cluster_status="non-Primary", cluster_size=2, conf_id=None, members=(),
                   incoming_addresses=("", f"{address(2)}:0"))  # fmt: skip
    cluster = only(estate(left, right))
    (island,) = cluster.components
    assert (island.members, island.primary) == (("db1", "db2"), False)
    assert [p.code for p in cluster.problems] == ["no-primary"]


def test_that_two_halves_without_majority_are_two_islands() -> None:
    sides = [
        member(n, 4, cluster_status="non-Primary", cluster_size=2, conf_id=None, members=(),
               incoming_addresses=tuple(f"{address(i)}:0" for i in ((1, 2) if n < 3 else (3, 4))))
        for n in (1, 2, 3, 4)
    ]  # fmt: skip
    cluster = only(estate(*sides))
    assert [c.members for c in cluster.components] == [("db1", "db2"), ("db3", "db4")]
    assert cluster.agreement == "db1 and db2 see each other; db3 and db4 see each other"


def test_that_a_split_brain_with_the_same_conf_id_is_two_primary_components() -> None:
    sides = [
        member(n, 4, cluster_size=2, conf_id=8, members=(), cluster_weight=2,
               incoming_addresses=tuple(f"{address(i)}:0" for i in ((1, 2) if n < 3 else (3, 4))))
        for n in (1, 2, 3, 4)
    ]  # fmt: skip
    cluster = only(estate(*sides))
    assert [c.component_id for c in cluster.components] == ["primary", "primary-2"]
    assert [p.code for p in cluster.problems] == ["two-primaries"]
    assert cluster.health is Health.BAD


def test_that_a_node_asked_a_moment_before_a_view_change_is_no_disagreement() -> None:
    late = member(3, at=AT - 0.9, conf_id=6, cluster_size=2)
    cluster = only(estate(member(1), member(2), late))
    assert cluster.observers_agree
    assert cluster.components[0].observers == ("db1", "db2", "db3")


def test_that_a_node_which_keeps_an_old_view_after_the_others_changed_is_a_disagreement() -> None:
    behind = member(3, at=AT + 0.2, conf_id=6)
    two = [member(n, cluster_size=2, conf_id=7, incoming_addresses=tuple(f"{address(i)}:0" for i in (1, 2)), members=())
           for n in (1, 2)]  # fmt: skip
    cluster = only(estate(*two, behind))
    assert not cluster.observers_agree
    assert cluster.components[0].members == ("db1", "db2")
    assert [p.code for p in cluster.problems] == ["views-differ"]


def test_that_a_member_without_a_host_becomes_a_placeholder_and_votes() -> None:
    snapshot = estate(member(1), member(2))
    cluster = only(snapshot)
    stranger = node(snapshot, f"member:{group_uuid(3)}")
    assert (stranger.name, stranger.state, stranger.health) == ("db3", "member, not in the inventory", Health.UNKNOWN)
    assert stranger.reason == "db1 and db2 see it as a member; the console has no connection to it"
    assert cluster.components[0].votes == 3


def test_that_a_member_of_the_list_is_found_by_its_address_when_its_uuid_is_new() -> None:
    """n3 restarted: its fellows list the new uuid before the console has asked n3 again."""
    rows = (*galera(1).members[:2], GaleraMember(group_uuid(3, 9), "db3", f"{address(3)}:0"))
    snapshot = estate(member(1, members=rows), member(2, members=rows), unreached(3, member(3, at=AT - 60)))
    seen = node(snapshot, "db3")
    assert seen.seen_by == ("db1", "db2")
    assert seen.uuid_history == (group_uuid(3), group_uuid(3, 9))
    assert seen.state == "member, no answer"


def test_that_an_arbitrator_is_a_voter_without_data() -> None:
    rows = (*galera(1, 2).members, GaleraMember(group_uuid(9), "garb", ""))
    given = (*galera(1, 2).incoming_addresses, "")
    two = [member(n, 2, cluster_size=3, cluster_weight=3, members=rows, incoming_addresses=given) for n in (1, 2)]
    snapshot = estate(*two)
    arbitrator = node(snapshot, f"member:{group_uuid(9)}")
    assert (arbitrator.state, arbitrator.role, arbitrator.health) == ("arbitrator", "arbitrator", Health.GOOD)
    assert only(snapshot).components[0].votes == 3


def test_that_a_member_of_which_neither_name_nor_address_was_read_is_not_said_to_hold_no_data() -> None:
    rows = (*galera(1, 2).members, GaleraMember(group_uuid(9), "", ""))
    seen = node(estate(*(member(n, 2, cluster_size=3, members=rows) for n in (1, 2))), f"member:{group_uuid(9)}")
    assert (seen.state, seen.role, seen.health) == ("member, not in the inventory", "", Health.UNKNOWN)


def test_that_an_arbitrator_nobody_sees_any_more_is_lost_and_not_forgotten() -> None:
    rows = (*galera(1, 2).members, GaleraMember(group_uuid(9), "garb", ""))
    before = estate(*(member(n, 2, cluster_size=3, members=rows) for n in (1, 2)))
    after = estate(*(member(n, 2, conf_id=8) for n in (1, 2)), previous=before, at=AT + 1)
    lost = node(after, f"member:{group_uuid(9)}")
    assert (lost.state, lost.health, lost.seen_by) == ("not seen by any node", Health.UNKNOWN, ())
    component = only(after).components[0]
    assert (component.votes, component.votes_known) == (2, 3)


def test_that_members_that_nobody_can_name_still_count() -> None:
    view = {"cluster_size": 3, "members": (), "incoming_addresses": (), "cluster_weight": None}
    cluster = only(estate(member(1, **view), member(2, **view)))
    assert cluster.components[0].votes == 3
    assert cluster.views[0].sentence == ("db1 and db2 see db1, db2 and 1 member without a name: Primary, 3 of 3 votes")


@pytest.mark.parametrize(
    ("view", "state", "health"),
    [
        ({"local_state": 2, "local_state_comment": "Donor/Desynced"}, "Donor/Desynced", Health.TRANSFER),
        ({"local_state": 3, "local_state_comment": "Joined", "recv_queue": 900}, "Joined", Health.TRANSFER),
        ({"local_state": 1, "local_state_comment": "Joiner"}, "Joiner", Health.TRANSFER),
        ({"local_state": 5, "local_state_comment": "Inconsistent"}, "Inconsistent", Health.BAD),
        ({"local_state": 0, "local_state_comment": "Initialized"}, "Initialized", Health.WARN),
        ({"reject_queries": "ALL"}, "Synced", Health.WARN),
        ({"ready": False}, "Synced", Health.WARN),
        ({"recv_queue": 28}, "Synced", Health.WARN),
        ({"cluster_status": "Disconnected", "local_state_comment": "Initialized"}, "Disconnected", Health.BAD),
        ({"cluster_status": "", "local_state": None}, "state not known", Health.UNKNOWN),
        ({"provider_suspect": True}, "Synced", Health.WARN),
    ],
)  # fmt: skip
def test_that_the_vendors_word_is_kept_and_its_weight_is_judged(
    view: dict[str, object], state: str, health: Health
) -> None:
    judged = node(estate(member(1), member(2), member(3, **view)), "db3")
    assert (judged.state, judged.health) == (state, health)
    assert judged.reason


def test_that_a_killed_server_is_not_running_and_its_fellows_still_count_it() -> None:
    gone = sql_gone(member(3, at=AT - 1), process_state="", process_pid=None, unit_state="failed/failed")
    killed = node(estate(member(1), member(2), gone), "db3")
    assert (killed.state, killed.health) == ("not running", Health.BAD)
    assert killed.reason == "SSH answers; mariadbd is not running (systemd: failed)"
    assert killed.seen_by == ("db1", "db2")


def test_that_the_reason_says_since_when_a_server_is_not_running() -> None:
    gone = sql_gone(member(3), at=AT + 60, process_state="", process_pid=None)
    first = estate(member(1), member(2), member(3))
    then = estate(member(1, at=AT + 60), member(2, at=AT + 60), gone, previous=first, at=AT + 60)
    gone = replace(gone, ssh_at=AT + 90)
    later = estate(member(1, at=AT + 90), member(2, at=AT + 90), gone, previous=then, at=AT + 90)
    assert node(later, "db3").state_since == AT + 60
    assert " since " in node(later, "db3").reason
    assert " since before " not in node(later, "db3").reason


def test_that_a_server_found_down_at_the_first_look_is_not_running_since_before_that() -> None:
    gone = sql_gone(member(3, at=AT - 1), process_state="", process_pid=None)
    first = estate(member(1), member(2), gone)
    later = estate(
        member(1, at=AT + 60), member(2, at=AT + 60), replace(gone, ssh_at=AT + 60), previous=first, at=AT + 60
    )
    assert node(later, "db3").state_since == AT + 0.5
    assert " since before " in node(later, "db3").reason
    back = estate(*(member(n, at=AT + 90) for n in (1, 2, 3)), previous=later, at=AT + 90)
    texts = [event.text for event in events_between(later, back) if event.node_id == "db3"]
    assert any("not running for more than " in text for text in texts), texts


def test_that_a_paused_server_is_stopped_by_a_signal() -> None:
    paused = node(estate(member(1), member(2), sql_gone(member(3), code="timed-out", process_state="T")), "db3")
    assert (paused.state, paused.health) == ("process stopped (SIGSTOP)", Health.BAD)
    assert "pid 803" in paused.reason
    assert "db1 and db2 still count it as a member" in paused.reason


def test_that_a_server_that_runs_and_does_not_answer_is_bad_without_a_guess() -> None:
    hung = node(estate(member(1), member(2), sql_gone(member(3), code="timed-out", process_state="D")), "db3")
    assert (hung.state, hung.health) == ("SQL does not answer", Health.BAD)
    assert "mariadbd runs (state D)" in hung.reason


def test_that_a_refused_login_says_nothing_about_the_server() -> None:
    refused = node(estate(member(1), member(2), sql_gone(member(3), code="auth-failed")), "db3")
    assert (refused.state, refused.health) == ("SQL login refused", Health.UNKNOWN)


def test_that_a_secret_of_ours_that_is_missing_is_no_refusal_of_the_server() -> None:
    ours = node(estate(member(1), member(2), sql_gone(member(3), code="secret-missing")), "db3")
    assert (ours.state, ours.health) == ("SQL not asked", Health.UNKNOWN)


def test_that_a_host_that_ssh_cannot_watch_is_said_beside_its_servers_true_state() -> None:
    problem = Problem("ssh", "The host key of db3 is not known.", "host-key-unknown")
    half = node(estate(member(1), member(2), replace(member(3), reach=Reach.SQL_ONLY, problems=(problem,))), "db3")
    assert (half.state, half.health) == ("Synced", Health.GOOD)
    assert "the host itself is not watched: The host key of db3 is not known" in half.reason


def test_that_an_unread_process_list_is_never_taken_for_a_dead_server() -> None:
    unread = node(estate(member(1), member(2), sql_gone(member(3), process_state="?", process_pid=None)), "db3")
    assert (unread.state, unread.health) == ("SQL does not answer", Health.UNKNOWN)


def test_that_a_node_which_nobody_sees_and_nobody_reaches_gives_no_answer() -> None:
    two = [member(n, cluster_size=2, conf_id=8, members=(), incoming_addresses=tuple(f"{address(i)}:0" for i in (1, 2)))
           for n in (1, 2)]  # fmt: skip
    lost = node(estate(*two, unreached(3, member(3, at=AT - 30))), "db3")
    assert (lost.state, lost.health, lost.component) == ("no answer", Health.UNKNOWN, "")
    assert lost.reason.startswith("not seen by db1 and db2; last answer ")


@pytest.mark.parametrize("code", ["connection-refused", "unreachable"])
def test_that_a_refused_connection_is_bad_and_a_silence_is_not_known(code: str) -> None:
    alone = replace(unreached(9), problems=(Problem("ssh", "Down.", "timed-out"), Problem("sql", "It refused.", code)))
    judged = node(estate(alone), "db9")
    refused = ("refused", Health.BAD, "It refused.")
    assert (judged.state, judged.health, judged.reason) == (
        refused if code == "connection-refused" else ("no answer", Health.UNKNOWN, "Down.")
    )
    counted = replace(unreached(3, member(3)), problems=alone.problems)
    assert node(estate(member(1), member(2), counted), "db3").health is judged.health


def test_that_old_answers_are_no_view_and_no_state() -> None:
    silent = member(3, at=AT - 60)
    snapshot = estate(member(1), member(2), silent)
    assert node(snapshot, "db3").state == "no news"
    assert only(snapshot).components[0].observers == ("db1", "db2")


@pytest.mark.parametrize(
    ("free", "state", "health"), [(0, "Synced, disk full", Health.BAD), (3 * 10**9, "Synced", Health.WARN)]
)
def test_that_a_full_data_disk_is_told_on_the_card(free: int, state: str, health: Health) -> None:
    full = replace(member(3), machine=machine(3, data_disk=DiskFacts("/var/lib/mysql", "/dev/vdb", 100 * 10**9, free)))
    snapshot = estate(member(1), member(2), full)
    judged = node(snapshot, "db3")
    assert (judged.state, judged.health) == (state, health)
    assert "data disk" in judged.reason
    assert judged.numbers[-1][0] == "data disk"
    assert judged.numbers[-1][2] is health


def test_that_a_dead_host_named_in_the_group_address_belongs_to_the_cluster() -> None:
    down = machine(3, process_state="", process_pid=None, unit_state="inactive/dead")
    refused = (Problem("sql", "Refused.", "unreachable"),)
    dead = NodeFacts("db3", AT, Reach.SSH_ONLY, address(3), machine=down, ssh_at=AT, problems=refused)
    two = [member(n, cluster_size=2, members=(), incoming_addresses=tuple(f"{address(i)}:0" for i in (1, 2)))
           for n in (1, 2)]  # fmt: skip
    cluster = only(estate(*two, dead))
    assert cluster.node("db3") is not None
    assert node(estate(*two, dead), "db3").health is Health.BAD


def test_that_a_host_without_a_database_is_no_alarm() -> None:
    spare = NodeFacts("spare", AT, Reach.SSH_ONLY, "10.20.0.99", machine=MachineFacts(unit_state="inactive/dead"),
                      ssh_at=AT, problems=(Problem("sql", "Refused.", "unreachable"),))  # fmt: skip
    assert node(estate(spare), "spare").health is Health.UNKNOWN


def test_that_identical_names_never_merge_two_nodes() -> None:
    cluster = only(estate(*(member(n, node_name="node") for n in (1, 2, 3))))
    assert len(cluster.nodes) == 3
    assert cluster.components[0].members == ("db1", "db2", "db3")


def test_that_a_restarted_node_keeps_its_identity_and_its_history() -> None:
    before = estate(member(1), member(2), member(3))
    again = member(3, at=AT + 60, node_uuid=group_uuid(3, 1))
    after = estate(member(1, at=AT + 60), member(2, at=AT + 60), again, previous=before, at=AT + 60)
    assert node(after, "db3").uuid_history == (group_uuid(3), group_uuid(3, 1))
    assert len(only(after).nodes) == 3


def test_that_a_renamed_host_stays_the_same_node() -> None:
    before = estate(member(1), member(2), member(3))
    renamed = replace(member(3, at=AT + 1), host="orders-3")
    after = estate(member(1, at=AT + 1), member(2, at=AT + 1), renamed, previous=before, at=AT + 1)
    assert node(after, "db3").host == "orders-3"
    assert len(only(after).nodes) == 3


def test_that_one_server_under_two_keys_is_one_node_with_a_problem() -> None:
    snapshot = estate(member(1), member(2), member(3), replace(member(3), host=address(3)))
    assert len(only(snapshot).nodes) == 3
    assert [p.code for p in snapshot.problems] == ["same-server"]


def test_that_the_state_uuid_and_not_the_name_makes_a_cluster() -> None:
    other = "11111111-5b1a-11f0-9c57-6a0f2f4b6a77"
    apart = member(4, 1, state_uuid=other, local_state_uuid=other)
    snapshot = estate(member(1), member(2), member(3), apart)
    assert sorted(c.cluster_id for c in snapshot.clusters) == sorted((STATE, other))
    assert {c.name for c in snapshot.clusters} == {"orders"}


def test_that_a_cache_which_reaches_for_ever_is_told_as_a_week_or_more() -> None:
    rates = {"db3": {"ist_reach_s": 7 * 86_400.0}, "db2": {"ist_reach_s": 7 * 86_400.0 - 3_600.0}}
    seen = estate(member(1), member(2), member(3), rates=rates)
    reach = {name: {n[0]: n[1] for n in node(seen, name).numbers}["IST reach"] for name in rates}
    assert reach == {"db3": "a week or more", "db2": "6 d 23 h"}


def test_that_the_numbers_carry_their_health() -> None:
    rates = {"db3": {"flow_control_share": 0.12, "ist_reach_s": 1860.0}}
    judged = node(estate(member(1), member(2), member(3, recv_queue=20), rates=rates), "db3")
    assert judged.numbers == (
        ("receive queue", "20", Health.WARN),
        ("flow control", "12.0 %", Health.BAD),
        ("IST reach", "31 min", Health.WARN),
    )


def test_that_a_refused_port_right_after_the_start_is_not_yet_an_alarm() -> None:
    starting = sql_gone(replace(member(3), galera=None), unit_state="activating/start")
    first = estate(member(1), member(2), starting)
    assert node(first, "db3").state == "starting"
    up = sql_gone(replace(member(3), galera=None), at=AT + 1)
    second = estate(member(1, at=AT + 1), member(2, at=AT + 1), up, previous=first, at=AT + 1)
    assert (node(second, "db3").state, node(second, "db3").health) == ("started, SQL not asked yet", Health.TRANSFER)
    late = sql_gone(replace(member(3), galera=None), at=AT + 60)
    third = estate(member(1, at=AT + 60), member(2, at=AT + 60), late, previous=second, at=AT + 60)
    assert (node(third, "db3").state, node(third, "db3").health) == ("SQL does not answer", Health.BAD)
