"""A node that gets a donor's snapshot: whose commands run, in what order, and what is refused before all that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.facts.galera.state_files import KEPT_ASIDE, KEPT_INSIDE
from services.facts.model import DiskFacts, Problem
from services.facts.server.read_rights import ReadRights
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.checks.old_data import old_data
from services.procedures.catalogue.galera.snapshot_node import checks
from services.procedures.catalogue.galera.snapshot_node.hold import HOLD
from services.procedures.catalogue.steps.restored.restoring_programs import TAKE
from services.procedures.conditions.galera.data.recovered_is import RecoveredIs
from services.procedures.conditions.galera.history.copied import CopiedHistory
from services.procedures.conditions.galera.transfer.ist_reaches import IstReaches
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.machine.same_folder import SameFolder
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached, Run, Several, WaitFor
from services.procedures.plan.condition import Kept
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.wording import wording
from tests.faults.scripted.cluster import Cluster, balanced, parted, whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.facts_of_three import BLOCK, PASS, WARN
from tests.unit.procedures.host_of import changed

PROCEDURE = procedure_named("snapshot-node")
LVM: Inputs = {
    "way": "volume",
    "take": "lvcreate -s -n {snapshot} -L 20G vg/mysql",
    "offer": "sh -c 'mkdir -p /mnt/{snapshot} && mount -o ro,noload /dev/vg/{snapshot} /mnt/{snapshot}'",
    "bring": "sh -c 'ssh {donor_address} tar -C /mnt/{snapshot} -c . | tar -x -C {datadir}'",
    "remove": "sh -c 'umount /mnt/{snapshot}; ! lvs vg/{snapshot} || lvremove -f vg/{snapshot}'",
}


def away() -> Cluster:
    cluster = whole("n1", "n2", "n3", "n4")
    cluster.stop(cluster.hosts["n4"])
    return cluster


def seen(**of_donor: Any) -> Facts:
    facts = facts_of(away())
    hosts = tuple(changed(host, **of_donor) if host.host == "n1" and of_donor else host for host in facts.hosts)
    return replace(facts, hosts=hosts)


def given(**inputs: str) -> Inputs:
    return {"joiner": "n4", "donor": "n1", "snapshot": "snap_1", "settle": "1 s", **LVM, **inputs}


def plan_of(facts: Facts, **inputs: str) -> Plan:
    assert PROCEDURE.faults(facts, given(**inputs)) == ()
    plan = PROCEDURE.plan(facts, given(**inputs))
    assert violations(plan) == ()
    return plan


def fault_of(name: str, text: str) -> str:
    return next(
        (fault.sentence for fault in PROCEDURE.faults(seen(), given(**{name: text})) if fault.field == name), ""
    )


# -- the plan ----------------------------------------------------------------------------------------------------------


def test_that_the_order_is_lock_first_old_data_aside_next_and_nothing_starts_unproven() -> None:
    assert [step.step_id for step in plan_of(seen()).steps] == [
        "own-path-n4", "restart-off-n4", "down-n4", "hold-n4", "held-out-n4",
        "desync", "mark", "snapshot", "lock-over", "catch-up", "resync", "offer",
        "keep-data-n4", "new-data-n4",
        "bring-n4", "offer-over", "look-through-n4", "copied-at-n4",
        "identity-n4", "state-n4", "owner-n4", "recover-n4", "position-n4", "look-n4", "no-look-n4", "tables-open-n4",
        "name-donor-n4", "start-n4", "transfer-n4", "ist-from-n4", "same-defined-n4", "same-rows-n4", "let-in-n4",
        "forget-donor-n4", "restart-on-n4", "settle-n4",
        "whole", "remove-snapshot", "last-look",
    ]  # fmt: skip
    before = {type(one) for one in plan_of(seen()).step("start-n4").before}
    assert {CopiedHistory, IstReaches, RecoveredIs, Stopped} <= before


def test_that_the_shape_of_lvms_commands_is_kept_word_by_word_as_scripted_hosts_get_them() -> None:
    step = plan_of(seen()).step("snapshot")
    assert isinstance(step.action, Detached)
    argv = step.action.command.argv
    assert argv[argv.index("--") + 1 :][:4] == ("bash", "-c", HOLD, "pilothouse")
    assert "--unit=pilothouse-lock-snap_1.scope" in argv
    assert argv[-7:] == ("lvcreate", "-s", "-n", "snap_1", "-L", "20G", "vg/mysql")
    assert step.action.command.sudo
    assert LVM["take"] in step.title
    offered = plan_of(seen()).step("offer").action
    assert isinstance(offered, Detached)
    mounted = "mkdir -p /mnt/snap_1 && mount -o ro,noload /dev/vg/snap_1 /mnt/snap_1"
    assert offered.command.argv[-3:] == ("sh", "-c", mounted)
    shown = "\n".join(line for step in plan_of(seen()).steps for line in wording(step.action))
    assert "ssh 10.0.0.1 tar -C /mnt/snap_1 -c . | tar -x -C /var/lib/mysql" in shown


def test_that_a_copy_of_files_lets_innodb_come_to_rest_first_and_gives_its_setting_back_on_every_way_out() -> None:
    plan = plan_of(seen(), way="copy")
    order = [step.step_id for step in plan.steps]
    found = order.index("rest")
    assert order[found : found + 5] == ["rest", "mark", "snapshot", "lock-over", "rest-over"]
    undo = plan.step("rest").undo
    assert undo is not None
    assert wording(undo.action) == ("SET GLOBAL innodb_max_dirty_pages_pct=90;",)
    odd = plan_of(seen(variables_values=(("innodb_max_dirty_pages_pct", "72.500000"),)), way="copy")
    assert "rest" not in [step.step_id for step in odd.steps]


def test_that_a_setting_that_was_not_read_is_left_alone() -> None:
    unread = seen(variables_values=())
    plan = plan_of(unread, way="copy")
    assert "rest" not in [step.step_id for step in plan.steps]
    action = plan.step("snapshot").action
    assert isinstance(action, Detached)
    words = action.command.argv[action.command.argv.index("--") + 1 :]
    assert words[11] == ""  # nothing is put back that nobody knows
    assert code_of(unread, "INNODB-RESTS", way="copy").result == "not known"
    assert code_of(seen(), "INNODB-RESTS", way="copy").verdict is PASS


def test_that_what_offers_the_snapshot_ends_on_every_way_out() -> None:
    plan = plan_of(seen())
    offered = plan.step("offer").takes
    assert offered is not None
    assert wording(offered.release) == ("sudo systemctl stop pilothouse-offer-snap_1.service",)
    order = [step.step_id for step in plan.steps]
    assert order.index("bring-n4") + 1 == order.index("offer-over")
    assert plan.step("offer-over").discharges == ("offer:n1",)
    assert "offer" not in [step.step_id for step in plan_of(seen(), offer="").steps]


def test_that_the_snapshot_is_removed_on_every_way_out_or_it_is_told_that_it_stays() -> None:
    taken = plan_of(seen()).step("mark")
    assert taken.takes is not None
    assert taken.takes.key == "snapshot:n1"
    assert isinstance(taken.takes.release, Run)
    assert taken.takes.release.command.argv[-1].startswith("umount /mnt/snap_1;")
    stays = plan_of(seen(), remove="")
    assert "mark" not in [step.step_id for step in stays.steps]
    assert [step.step_id for step in stays.steps[-2:]] == ["snapshot-stays", "last-look"]
    assert any("snap_1 stays on n1" in said for said in stays.expects)
    undo = stays.step("snapshot").undo
    assert undo is not None
    assert undo.leaves == (FileAbsent("n1", "/var/lib/pilothouse/snapshot-snap_1"),), "an undo tells what it leaves"
    with_removal = plan_of(seen()).step("snapshot").undo
    assert with_removal is not None
    assert with_removal.leaves == ()


def test_that_the_lock_is_an_obligation_newer_than_the_snapshot_and_ends_before_the_desync_on_every_way_out() -> None:
    plan = plan_of(seen(), way="copy")
    keys = [step.takes.key for step in plan.steps if step.takes]
    assert keys[:7] == ["restart:n4", "hold:n4", "held-out:n4", "desync:n1", "rest:n1", "snapshot:n1", "lock:n1"]
    unlock = wording(plan.step("lock-over").action)
    assert "pilothouse-lock-snap_1.scope" in " ".join(unlock)
    desync = plan.step("desync")
    assert desync.takes is not None
    assert desync.undo is not None
    for action in (desync.takes.release, desync.undo.action, plan.step("resync").action):
        assert wording(action) == (*unlock, "SET GLOBAL wsrep_desync=OFF;")
    mark = plan.step("mark").takes
    assert mark is not None
    assert mark.release_when  # never while the command that takes it works


def test_that_the_joiners_command_ends_before_anything_is_detached_and_that_is_never_skipped() -> None:
    plan = plan_of(seen(), detach="sh -c '! mountpoint -q {datadir} || umount {datadir}'")
    order = [step.step_id for step in plan.steps]
    assert order.index("new-data-n4") + 1 == order.index("attach-n4") == order.index("bring-n4") - 1
    brought, attached = plan.step("bring-n4").undo, plan.step("attach-n4").undo
    assert brought is not None
    assert attached is not None
    assert isinstance(brought.action, Several)
    stopped, taken = brought.action.actions
    assert wording(stopped) == ("sudo systemctl stop pilothouse-bring-snap_1.scope",)
    assert isinstance(taken, Run)
    assert taken.command.argv[2:] == (TAKE, "pilothouse", "/var/lib/mysql", "106")
    assert brought.proof == ()  # what the command gave away is root's again, before the old data are put back
    assert attached.proof == ()  # nothing can show it: it is always done
    assert "umount /var/lib/mysql" in " ".join(wording(attached.action))
    assert "attach-n4" not in [step.step_id for step in plan_of(seen()).steps]


def test_that_the_joiners_command_ends_on_every_way_out_until_its_copy_is_proven_and_not_behind_that() -> None:
    """Its scope outlives the work that began it. A program that serves an attached volume has to live on, later."""
    plan = plan_of(seen())
    brought, taken = plan.step("bring-n4").undo, plan.step("bring-n4").takes
    assert taken is not None
    assert brought is not None
    assert taken.release == brought.action
    assert taken.release_proof == (UnitSetting("n4", "pilothouse-bring-snap_1.scope", "ActiveState", "inactive"),)
    assert [step.step_id for step in plan.steps if taken.key in step.discharges] == ["copied-at-n4"]


def test_that_nothing_is_to_do_where_the_node_is_a_full_member() -> None:
    assert PROCEDURE.plan(seen(), given(joiner="n2")).nothing_to_do


def test_that_behind_haproxy_the_donors_clients_leave_first_and_return() -> None:
    cluster = balanced("n1", "n2", "n3", "n4")
    cluster.stop(cluster.hosts["n4"])
    order = [step.step_id for step in plan_of(facts_of(cluster)).steps]
    assert order.index("haproxy-drain-n1-1") < order.index("snapshot") < order.index("haproxy-ready-n1-1")


# -- the operator's commands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("take", "lvcreate -n {snap}", "{snap} is not known"),
        ("take", "lvcreate 'half", "cannot be split"),
        ("take", "''", "begin with a program"),
        ("bring", "scp --password=hunter2 a b", "contain a password"),
        ("offer", "mount \x07bell", "printable"),
        ("remove", "rm " + "x" * 2_001, "at most 2000 printable characters"),
        ("snapshot", "a; rm -rf /", "begins with a letter"),
        ("take_limit", "3 h", "at most one hour"),
        ("donor", "n4", "not one of"),
    ],
)
def test_that_a_command_that_could_do_other_than_it_says_is_refused(name: str, text: str, said: str) -> None:
    assert said in fault_of(name, text)


def test_that_no_shell_reads_a_command_and_what_a_name_stands_for_is_one_harmless_word() -> None:
    plan = plan_of(seen(), take="echo $HOME ${x} * {datadir}/a 'two words'")
    action = plan.step("snapshot").action
    assert isinstance(action, Detached)
    assert action.command.argv[-6:] == ("echo", "$HOME", "${x}", "*", "/var/lib/mysql/a", "two words")
    spaced = seen(data_folder_path="/var/lib/my $(reboot)")
    found = PROCEDURE.faults(spaced, given(take="cp {datadir} x"))
    assert [fault.field for fault in found] == ["take"]


# -- what is refused ---------------------------------------------------------------------------------------------------


def code_of(facts: Facts, code: str, **inputs: str) -> Any:
    return next(c for c in PROCEDURE.preflight(facts, given(**inputs)) if c.code == code)


def test_that_the_donor_is_neither_the_writer_nor_the_last_full_member_nor_in_a_pool() -> None:
    assert code_of(seen(), "DONOR-WRITER").verdict is PASS
    assert code_of(seen(sessions_clients=99), "DONOR-WRITER").verdict is BLOCK
    assert code_of(seen(sessions_clients=None), "DONOR-WRITER").verdict is WARN
    two = whole("n1", "n2")
    two.stop(two.hosts["n2"])
    alone = checks.others_stay(facts_of(two), "n1")
    assert (alone.verdict, alone.absolute) == (BLOCK, True)
    three = whole("n1", "n2", "n3")
    three.stop(three.hosts["n3"])
    assert (checks.others_stay(facts_of(three), "n1").verdict, checks.others_stay(seen(), "n1").verdict) == (
        BLOCK,
        PASS,
    )
    pooled = balanced("n1", "n2", "n3", "n4")
    pooled.stop(pooled.hosts["n4"])
    assert checks.out_of_the_pool(facts_of(pooled), "n1", drained=False).verdict is BLOCK


def test_that_a_long_statement_or_a_login_that_fails_stops_it_before_the_lock() -> None:
    assert code_of(seen(longest_transaction_s=31.0), "LONG-TRANSACTIONS").verdict is BLOCK
    assert code_of(seen(root_login_works=False), "ROOT-LOGIN").absolute
    assert code_of(seen(root_login_works=None), "ROOT-LOGIN").verdict is BLOCK


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("n1", {"variables_values": (("log_bin_basename", "/logs/mysql-bin"),)}),
        ("n1", {"variables_values": (("innodb_undo_directory", "/undo/"),)}),
        ("n1", {"variables_values": (("rocksdb_datadir", "./.rocksdb"),)}),
        ("n4", {"options_given": (("mysqld", "innodb_log_group_home_dir", "/redo"),)}),
        ("n4", {"gcache_folder": "/cache"}),
    ],
)
def test_that_data_on_several_volumes_is_refused(host: str, known: dict[str, Any]) -> None:
    facts = facts_of(away())
    hosts = tuple(changed(one, **known) if one.host == host else one for one in facts.hosts)
    check = checks.one_volume(replace(facts, hosts=hosts), "n1", "n4")
    assert (check.verdict, check.absolute) == (BLOCK, True), check.evidence
    assert checks.one_volume(facts, "n1", "n4").verdict is PASS


def test_that_a_donor_that_keeps_older_data_inside_its_folder_is_refused_they_would_mix_with_the_joiners() -> None:
    def check_with(sentence: str, code: str) -> Any:
        kept = (Problem("datadir", sentence, code),)
        facts = seen()
        hosts = tuple(replace(one, problems=kept) if one.host == "n1" else one for one in facts.hosts)
        return checks.one_volume(replace(facts, hosts=hosts), "n1", "n4")

    inside = check_with("Older data kept inside the data folder: /var/lib/mysql/x", KEPT_INSIDE)
    assert (inside.verdict, inside.absolute) == (BLOCK, True)
    assert "would be copied as well" in inside.evidence
    beside = check_with("An older data folder kept aside: /var/lib/mysql.pilothouse-before", KEPT_ASIDE)
    assert beside.verdict is PASS


@pytest.mark.parametrize(
    ("joiner", "verdict", "said"),
    [
        ((("mysqld", "log_bin", "mysql-bin"), ("mysqld", "ssl_cert", "/etc/mysql/cert.pem")), PASS, ""),
        ((("mysqld", "ssl_cert", "/var/lib/mysql/cert.pem"),), BLOCK, "ssl_cert of n4 is /var/lib/mysql/cert.pem"),
        ((("mysqld", "ssl_key", "key.pem"),), BLOCK, "ssl_key of n4 is key.pem"),
        (
            (("mysqld", "wsrep_provider_options", "socket.ssl_key=/var/lib/mysql/key.pem"),),
            BLOCK,
            "socket.ssl_key of n4",
        ),
        (
            (("mysqld", "log_bin", "/var/lib/mysql/n4-bin"),),
            BLOCK,
            "the binary log of n4 is n4-bin, but that of n1 is mysql-bin",
        ),
        ((("mysqld", "log_bin", ""),), WARN, "log_bin of n4 has no name"),
        ((("mysqld", "server_id", "4"),), PASS, ""),
    ],
)
def test_that_what_is_the_joiners_own_outlasts_the_exchange_of_its_folder(
    joiner: tuple[tuple[str, str, str], ...], verdict: Any, said: str
) -> None:
    facts = seen(variables_values=(("log_bin_basename", "/var/lib/mysql/mysql-bin"),))
    mine = (("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1"), *joiner)
    hosts = tuple(changed(one, options_given=mine) if one.host == "n4" else one for one in facts.hosts)
    check = checks.stays_its_own(replace(facts, hosts=hosts), "n1", "n4")
    assert check.verdict is verdict, check.evidence
    assert said in check.evidence


def test_that_a_mount_of_the_persons_own_command_is_told_to_be_theirs_after_a_boot() -> None:
    assert any("/etc/fstab" in said for said in plan_of(seen(), detach="umount {datadir}").expects)
    assert not any("/etc/fstab" in said for said in plan_of(seen()).expects)


def test_that_a_copy_that_would_fill_the_donors_disk_is_told() -> None:
    facts = seen(data_folder_disk=DiskFacts("/", "/dev/sda1", 10**12, 1_000), data_size_in_bytes=10**6)
    assert checks.room(facts, "n1", "n4", copies=True).verdict is WARN
    assert "a copy on the disk of its data would fill it" in checks.room(facts, "n1", "n4", copies=True).evidence
    assert checks.room(facts, "n1", "n4", copies=False).verdict is PASS


def test_that_another_version_or_layout_is_refused() -> None:
    assert checks.same_server(seen(), "n1", "n4").verdict is PASS
    assert checks.same_server(seen(program_version=(10, 11, 19)), "n1", "n4").absolute
    pages = seen(variables_values=(("innodb_page_size", "32768"),))
    assert "innodb_page_size is 16384 on n4" in checks.same_server(pages, "n1", "n4").evidence


def test_that_a_fork_is_settled_before_and_never_buried_under_a_snapshot() -> None:
    cluster = parted("n1", "n2", "n3", "n4")
    assert old_data(facts_of(cluster), "n4").verdict is BLOCK
    assert old_data(seen(), "n4").verdict is PASS
    ahead = away()
    ahead.hosts["n4"].seqno = ahead.hosts["n4"].grastate_seqno = 5_000
    assert old_data(facts_of(ahead), "n4").verdict is BLOCK


def test_that_a_cache_that_would_not_last_is_refused_and_one_that_is_not_known_is_told() -> None:
    facts = seen()
    assert checks.reach(facts, ("n1", "n2", "n3"), 600.0).verdict is PASS
    assert checks.reach(facts, ("n1", "n2", "n3"), 60_000.0).verdict is BLOCK
    assert checks.reach(seen(rates=None), ("n1", "n2", "n3"), 600.0).verdict is WARN


def test_that_a_member_that_lost_its_option_files_is_refused_and_told_which_to_write_back() -> None:
    facts = facts_of(away())
    bare = tuple(changed(one, options_given=()) if one.host == "n4" else one for one in facts.hosts)
    check = code_of(replace(facts, hosts=bare), "JOINER-CONFIGURED")
    assert check.absolute
    assert "wsrep_cluster_address, wsrep_node_name" in check.try_[0]


def test_that_a_table_that_may_not_be_read_is_refused_with_the_grant_to_type_unless_that_is_accepted() -> None:
    rights = ReadRights("`observer`@`%`", (("shop", "a"),))
    check = code_of(seen(reader_rights=rights), "COMPARE", tables="shop.a,shop.b")
    assert check.verdict is BLOCK
    assert check.try_ == ("On a member: GRANT SELECT ON `shop`.`b` TO `observer`@`%`;",)
    assert code_of(seen(reader_rights=rights), "COMPARE", tables="shop.b", tables_unknown="yes").verdict is WARN
    assert code_of(seen(reader_rights=rights), "COMPARE", tables="shop.a").verdict is PASS
    assert code_of(seen(), "COMPARE", tables="shop.a").result == "not known"


# -- a data folder that is the top of a file system --------------------------------------------------------------------


def _on_a_mount() -> Facts:
    facts = seen()
    disk = DiskFacts("/var/lib/mysql", "/dev/sdb1", 10**12, 10**11)
    hosts = tuple(changed(one, data_folder_disk=disk) if one.host == "n4" else one for one in facts.hosts)
    return replace(facts, hosts=hosts)


def test_that_old_data_kept_inside_are_still_there_behind_the_joiners_command_before_the_start_and_at_the_end() -> None:
    """The command works in the folder that they lie in: what removes or hides them ends the run, the old data told."""
    plan = plan_of(_on_a_mount())
    there = SameFolder("n4", "/var/lib/mysql/#sql-pilothouse-before.sst", Kept("aside-n4"))
    order = [step.step_id for step in plan.steps]
    assert order.index("keep-data-n4") < order.index("note-aside-n4") < order.index("bring-n4")
    assert there in plan.step("bring-n4").proof
    assert there in plan.step("start-n4").before
    end = plan.step("aside-there-n4").action
    assert isinstance(end, WaitFor)
    assert end.conditions == (there,)
    assert order.index("aside-there-n4") > order.index("start-n4")
    assert not [one for one in plan_of(seen()).steps if "aside" in one.step_id], "beside the folder no command works"


@pytest.mark.parametrize("text", ["rsync -a --delete a:/ {datadir}/", "sh -c 'rsync -a --del a:/ {datadir}/'"])
def test_that_a_command_that_deletes_what_it_did_not_bring_is_refused_where_the_old_data_lie_inside(text: str) -> None:
    faults = [one for one in PROCEDURE.faults(_on_a_mount(), given(bring=text)) if one.field == "bring"]
    assert ["--delete would remove them" in one.sentence for one in faults] == [True]
    assert PROCEDURE.faults(seen(), given(bring=text)) == ()
