"""What the drawing says, without painting it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.model import Component, TransferEdge
from services.drawing.cluster import transfer_fraction
from services.facts.model import GroupRecovery, SemiSyncFacts
from services.types import Health, Reach
from tests.widgets import builders as b
from widgets.common.look.text import THIN_SPACE, format_clock
from widgets.common.nodes import age_of, last_answer
from widgets.inventory.tree_model import node_entry
from widgets.topology.inspector.content import content
from widgets.topology.wording import (
    accessible_text,
    card_text,
    component_detail,
    component_title,
    lag_words,
    recovery_words,
    replication_lines,
    seen_from,
    semi_sync_rows,
    subtitle,
    transfer_lines,
)


def test_that_the_primary_component_tells_votes_what_may_fail_and_the_view() -> None:
    cluster = b.sst_running()
    assert component_detail(cluster.components[0], cluster) == "4 of 5 votes · may lose 1 at a time · view 214"


def test_that_a_component_on_its_last_majority_says_it_may_lose_none() -> None:
    cluster = b.partitioned()
    assert component_detail(cluster.components[0], cluster) == "2 of 3 votes · may lose none · view 215"


def test_that_an_island_tells_its_votes_and_whom_it_sees() -> None:
    cluster = b.partitioned()
    assert component_detail(cluster.components[1], cluster) == "1 of 3 votes, sees only itself"
    split = b.no_primary()
    assert component_detail(split.components[0], split) == "2 of 4 votes, see only db1 and db2"


def test_that_flow_control_is_told_with_who_asks_for_it() -> None:
    cluster = b.healthy()
    component = replace(cluster.components[0], flow_control_by=("db2",))
    assert component_detail(component, cluster).endswith("flow control by db2")


def test_that_many_members_are_counted_rather_than_listed() -> None:
    cluster = b.many(40)
    island = Component("i", False, tuple(n.node_id for n in cluster.nodes[:10]), votes=10, votes_known=40)
    assert component_detail(island, cluster) == "10 of 40 votes, see only db1, db2 and 8 more"


def test_that_a_silent_node_tells_why_and_when_it_last_answered() -> None:
    node = b.killed().node("db2")
    assert node is not None
    text = card_text(node, b.AT)
    assert text.silent
    assert text.lines == ("mariadbd is not running since 02:31:07 (signal 9)",)
    assert text.footer.startswith("server answered "), "its host answers"
    assert text.rows == ()


def test_that_each_of_two_primary_components_is_named_as_one_of_two() -> None:
    cluster = b.split()
    assert {component_title(c, cluster) for c in cluster.components} == {"Primary component, split"}
    calm = b.partitioned()
    assert [component_title(c, calm) for c in calm.components] == ["Primary component", "non-Primary"]


def test_that_an_attempt_that_failed_is_no_answer_and_has_no_age() -> None:
    never = replace(b.facts("db2", age=0.2), sql_at=None, ssh_at=None, server=None, galera=None)
    node = replace(b.lost("db2", "no answer", Health.UNKNOWN, "no route"), facts=never, state_since=None)
    assert age_of(node, b.AT) is None
    assert card_text(node, b.AT).footer == ""
    over_ssh = replace(never, ssh_at=b.AT - 0.2)
    silent = replace(node, reach=Reach.SSH_ONLY, facts=over_ssh)
    assert last_answer(silent) is None, "its host answers, its server never did"
    assert last_answer(replace(silent, facts=replace(over_ssh, sql_at=b.AT - 40))) == b.AT - 40


def test_that_every_last_answer_of_a_silent_host_is_one_moment_and_its_servers_own_has_its_own_name() -> None:
    """A host that answered over SSH for longer than its server over SQL had two 'last answers' on one page."""
    host, server = b.AT - 35.0, b.AT - 79.0
    facts = replace(b.facts("db2", age=79.0), sql_at=server, ssh_at=host)
    reason = f"last answer {format_clock(host)}; No route to db2."
    node = replace(b.lost("db2", "no answer", Health.UNKNOWN, "x"), facts=facts, reach=Reach.NONE, reason=reason)
    cluster = replace(b.healthy(), nodes=(node,), agreement="No node reports a view of the group")
    assert last_answer(node) == host
    assert card_text(node, b.AT).footer == f"last answer {format_clock(host)}"
    told = content(cluster, node, b.AT, {})
    (row,) = [row for section in told.sections for row in section.rows if row.label == "last answer"]
    assert (told.age, row.value) == ("35 s ago", "35 s ago")
    assert node_entry(cluster, node, b.AT).detail.startswith("no answer 35 s")
    assert seen_from(cluster, b.AT).endswith(" · a server last answered 1 min 19 s ago")
    stopped = replace(node, reach=Reach.SSH_ONLY, reason="SSH answers; mariadbd is not running")
    assert card_text(stopped, b.AT).footer == f"server answered {format_clock(server)}"
    assert node_entry(cluster, stopped, b.AT).detail.startswith("no answer 1 min 19 s")


def test_that_a_node_nobody_asked_yet_says_that_it_waits() -> None:
    node = b.silent().nodes[0]
    assert card_text(node, b.AT).lines == ("waiting for the first answer",)


def test_that_numbers_older_than_three_seconds_carry_their_age_instead_of_the_role() -> None:
    node = replace(b.healthy().nodes[0], facts=b.facts("db1", age=14.0))
    text = card_text(node, b.AT)
    assert (text.stale, text.role, text.health) == (True, "14 s ago", Health.UNKNOWN)


def test_that_a_node_within_three_seconds_is_the_present() -> None:
    node = b.healthy().nodes[0]
    assert not card_text(node, b.AT + 2.3).stale
    assert card_text(node, b.AT + 2.5).stale


def test_that_a_transfer_tells_kind_method_share_amount_and_time_left() -> None:
    edge = b.sst_running().transfers[0]
    assert transfer_lines(edge, b.AT) == ("SST, mariabackup · 36 %", "42 of about 118 GB · 6 min 50 s left")
    assert transfer_fraction(edge) == pytest.approx(42 / 118)


def test_that_an_ist_counts_write_sets() -> None:
    edge = TransferEdge("db1", "db2", "IST", since=b.AT - 9, seqno_first=1000, seqno_last=113_527, seqno_done=70_840)
    assert transfer_lines(edge, b.AT) == ("IST · 62 %", f"69{THIN_SPACE}840 write sets")


def test_that_a_transfer_without_any_figure_tells_how_long_it_runs() -> None:
    assert transfer_lines(TransferEdge("db1", "db2", since=b.AT - 65), b.AT) == ("state transfer", "for 1 min 05 s")
    assert transfer_fraction(TransferEdge("db1", "db2")) is None
    assert transfer_fraction(TransferEdge("a", "b", seqno_first=5, seqno_last=5, seqno_done=5)) is None


def test_that_a_channel_tells_how_it_is_positioned_and_how_far_it_is_behind() -> None:
    cluster = b.sst_running()
    assert replication_lines(cluster.replication[0], cluster) == ("async · GTID", "lag 0.4 s")


def test_that_a_stopped_thread_is_told_before_any_lag() -> None:
    broken = b.tree_with_broken().replication[1]
    assert lag_words(broken) == "SQL thread stopped"
    assert lag_words(replace(broken, sql_running="Yes", io_running="Connecting")) == "IO thread connecting"
    assert lag_words(replace(broken, sql_running="Yes", io_running="No")) == "IO thread stopped"
    assert lag_words(broken, short=True) == "stopped"


def test_that_an_unknown_lag_is_never_zero() -> None:
    edge = replace(b.running("a", "b"), lag_s=None)
    assert lag_words(edge) == "lag not known"
    assert lag_words(edge, short=True) == "–"


def test_that_a_delay_that_is_meant_is_told_as_one() -> None:
    assert lag_words(b.tree_with_broken().replication[3]) == "lag 1 h, 1 h intended"


def test_that_the_subtitle_names_what_it_is_the_version_and_the_state() -> None:
    assert subtitle(b.healthy()) == f"Galera · MariaDB 10.11.14 · state {b.healthy().cluster_id}"
    assert subtitle(b.ring()) == "asynchronous replication · MariaDB 10.11.14"


def test_that_the_last_line_says_whose_eyes_and_how_long_ago() -> None:
    assert seen_from(b.healthy(), b.AT) == "Seen from db1, db2, db3 (they agree) · 0.6 s ago"
    assert seen_from(b.silent(), b.AT) == "Not seen by any node yet · 3.0 s ago"


def test_that_a_screen_reader_hears_name_state_role_and_numbers() -> None:
    node = b.healthy().nodes[0]
    assert (
        accessible_text(node, b.AT) == "db1, Synced, writer, receive queue 0, flow control 0.0 %, IST reach 9 h 20 min"
    )


def test_that_ssh_without_sql_counts_as_silent() -> None:
    node = replace(b.healthy().nodes[0], reach=Reach.SSH_ONLY, state="no answer", health=Health.BAD, reason="")
    assert card_text(node, b.AT).lines == ("SSH answers, SQL does not",)


def test_that_a_joiner_that_takes_no_connection_yet_shows_its_progress() -> None:
    joiner = b.sst_running().node("db4")
    assert joiner is not None
    facts = replace(b.facts("db4"), reach=Reach.SSH_ONLY, sql_at=b.AT - 300)
    text = card_text(replace(joiner, reach=Reach.SSH_ONLY, facts=facts), b.AT)
    assert (text.silent, text.stale) == (False, False)
    assert text.rows[0][:2] == ("received", "42 of 118 GB")


def test_that_an_enclosure_with_too_few_nodes_says_how_many_were_expected() -> None:
    cluster = replace(b.healthy(), expected=5, size=4)
    assert component_detail(cluster.components[0], cluster).split(" · ")[1] == "4 of 5 expected nodes"
    for enough in (replace(cluster, expected=4), replace(cluster, expected=None), replace(cluster, size=None)):
        assert "expected" not in component_detail(enough.components[0], enough)


def test_that_an_edge_says_whether_commits_wait_for_its_replica() -> None:
    cluster = b.sst_running()
    edge = cluster.replication[0]
    assert replication_lines(edge, cluster)[0].startswith("async")
    assert replication_lines(replace(edge, semi_sync=True), cluster)[0].startswith("semi-sync")
    assert replication_lines(replace(edge, semi_sync=False), cluster)[0].startswith("semi-sync fallen back")
    named = replace(edge, channel="east", semi_sync=True)
    assert replication_lines(named, cluster)[0].startswith("east · semi-sync")
    assert "async" not in replication_lines(replace(named, semi_sync=None), cluster)[0]


def test_that_a_recovery_is_told_by_its_clone_or_by_what_it_has_to_apply() -> None:
    assert recovery_words(GroupRecovery()) == "not known"
    assert recovery_words(GroupRecovery(missing=12)) == "12 transactions received and not applied"
    cloning = GroupRecovery(clone_stage="FILE COPY", clone_done=70_000_000, clone_whole=84_000_000)
    assert recovery_words(cloning).startswith("FILE COPY, 70")


def test_that_a_source_that_fell_back_is_told_with_whom_it_waits_for() -> None:
    facts = SemiSyncFacts(source_enabled=True, source_active=False, clients=0, wanted=1, not_acknowledged=14)
    assert [(label, value, health) for label, value, _, health in semi_sync_rows(facts)] == [
        ("semi-sync", "fallen back to asynchronous", Health.WARN),
        ("semi-sync replicas", "0", Health.WARN),
        ("not acknowledged", "14", Health.UNKNOWN),
    ]
    assert list(semi_sync_rows(SemiSyncFacts(source_enabled=False, replica_enabled=False))) == []
