"""rejoin-from-binlogs: what is refused with which code, and what the plan is made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.ports import Rows
from services.facts.galera.state_files import Grastate
from services.facts.model import ServerFacts
from services.procedures.catalogue.galera.rejoin_from_binlogs.judging import carried
from services.procedures.catalogue.galera.rejoin_from_binlogs.procedure import RejoinFromBinlogs
from services.procedures.catalogue.galera.shared import private_programs as private
from services.procedures.conditions.galera.history.chain_known import ChainKnown
from services.procedures.conditions.galera.history.fragments_whole import FragmentsWhole
from services.procedures.conditions.galera.history.restored import RestoredHistory
from services.procedures.conditions.galera.transfer.ist_reaches import IstReaches
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.plan.actions import Detached, PutFile, WaitFor
from services.procedures.plan.checks import Verdict
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.root_login import RootLogin
from services.procedures.plan.parts.server.variables import Variables
from services.types import Flavour
from tests.faults.scripted.cluster import CLUSTER, DATADIR, whole
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.rejoining import GTID, TARGET
from tests.unit.procedures.catalogue.binlogs_facts import (
    INPUTS,
    PROCEDURE,
    TOLD,
    checks_of,
    continued,
    facts_told,
    step_of,
    with_parts,
)
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, out

# -- the plan ----------------------------------------------------------------------------------------------------------


def test_that_the_first_part_only_reads_and_nothing_is_changed_before_it_was_judged() -> None:
    plan = PROCEDURE.plan(facts_told(), INPUTS)
    assert [step.step_id for step in plan.steps] == ["survey-n3", "chain-known"]
    assert {step.risk.value for step in plan.steps} == {"reads"}


def test_that_the_second_part_restores_replays_sets_the_position_and_only_then_names_the_cluster() -> None:
    checks, first, then = continued(facts_told())
    assert [code for code, check in checks.items() if check.verdict is Verdict.BLOCK] == []
    assert then.steps[: len(first.steps)] == first.steps
    assert [step.step_id for step in then.steps[2:]] == [
        "past-n3", "restart-off-n3", "hold-n3", "held-out-n3", "keep-data-n3", "new-data-n3", "prepare-n3",
        "copy-back-n3", "tidy-n3",
        "identity-n3", "owner-n3", "notes-n3", "replay-n3", "set-position-n3", "no-private-n3",
        "recover-n3", "position-n3", "look-n3", "no-look-n3", "tables-open-n3", "unmark-n3", "state-n3",
        "name-donor-n3", "start-n3", "transfer-n3", "fragments-n3",
        "same-defined-n3", "same-rows-n3",
        "let-in-n3", "forget-donor-n3", "restart-on-n3", "settle-n3",
        "fragments-n3-again", "whole",
    ]  # fmt: skip


def test_that_the_replay_begins_once_on_data_that_name_no_state_and_ends_where_it_was_planned() -> None:
    _, _, then = continued(facts_told())
    replay = step_of(then, "replay-n3")
    assert isinstance(replay.action, Detached)
    words = replay.action.command.argv
    assert words[4:] == (
        DATADIR, "/srv/binlogs", "4000", "899000", GTID, str(TARGET), "940", f"/run/pilothouse/replay-{TARGET}.log",
        "mariadb.service",
        "mysql-bin.000007:900000",
    )  # fmt: skip
    assert not replay.repeatable
    assert FileAbsent("n3", private.MARKER) in replay.before
    assert FileAbsent("n3", f"{DATADIR}/grastate.dat") in replay.before
    assert any(isinstance(one, IstReaches) and one.stopped_at == TARGET for one in replay.before)


def test_that_the_reach_and_the_position_are_read_again_right_before_the_start() -> None:
    _, _, then = continued(facts_told())
    start = step_of(then, "start-n3")
    reaches = [one for one in start.before if isinstance(one, IstReaches)]
    assert {one.donors for one in reaches} == {("n1", "n2"), ("n1",)}
    assert {one.stopped_at for one in reaches} == {TARGET}
    state = step_of(then, "state-n3").action
    assert isinstance(state, PutFile)
    assert f"uuid:    {CLUSTER}\nseqno:   -1\n" in "".join(map(str, state.content))


def _of_the_backup(sentence: str = TOLD, **inputs: str) -> RestoredHistory:
    _, _, then = continued(facts_told(sentence), **inputs)
    past = step_of(then, "past-n3").action
    assert isinstance(past, WaitFor)
    assert any(isinstance(one, ChainKnown) for one in past.conditions)
    return next(one for one in past.conditions if isinstance(one, RestoredHistory))


def test_that_the_backups_own_last_change_is_proven_beside_the_logs_before_anything_is_moved() -> None:
    found = _of_the_backup(past_unknown="yes")
    # The files have the backup's own GTID: then server and time of that transaction are the members' too, or it is not.
    assert (found.stopped_at, found.gtid, found.server, found.time) == (50, "0-1-45", 1, "261122 5:00:00")
    assert (found.datadir, found.accepted) == ("", True)
    # Of another side of a fork, unknown, or of several domains: its GTID alone is laid beside the members'.
    for gtids, gtid in (("0-3-45", "0-3-45"), ("-", ""), ("0-1-45,7-3-2", "0-1-45,7-3-2")):
        other = _of_the_backup(TOLD.replace("gtids=0-1-45", f"gtids={gtids}"))
        assert (other.stopped_at, other.gtid, other.server, other.time) == (50, gtid, 0, "")
        assert not other.accepted


def _with_marks(ids: str, writer: int = 1, gtid: str = "0-1-45") -> ScriptedHosts:
    """Members with server ids that end so, whose binary logs have this GTID at the backup's seqno."""
    hosts = ScriptedHosts("n1", "n2", "n3")
    for name, number in zip(("n1", "n2"), ids, strict=True):
        session = hosts.sessions[name]
        for query, key, value in (
            ("Variable_name IN", "log_bin_index", "/var/lib/mysql/mysql-bin.index"),
            ("Variable_name = 'server_id'", "server_id", f"1{number}"),
            ("Variable_name = 'wsrep_gtid_mode'", "wsrep_gtid_mode", "OFF"),
        ):
            session.rows[f"SHOW GLOBAL VARIABLES WHERE {query}"] = Rows(("Variable_name", "Value"), ((key, value),))
        session.programs["timeout"] = out(f"mark 261122 5:00:00 {writer} {gtid} 50\nmark 261122 5:00:01 1 0-1-46 51\n")
    return hosts


def test_that_the_backups_past_is_no_change_that_is_younger_than_the_log_it_brought() -> None:
    """The server that wrote a losing side came back and wrote on: the same GTID at the same seqno, another change."""
    begun = TOLD.replace("gtids=0-1-45", "gtids=0-2-45 since=261122~4:30:00")
    hosts = _with_marks("12", 2, "0-2-45")
    for told, holds in (
        (begun, False),
        (begun.replace("4:30", "4:59"), True),
        (TOLD.replace("0-1-45;", "0-2-45;"), True),
    ):
        condition = _of_the_backup(told)
        assert condition.time == ""
        assert Attempt(hosts, ManualClock()).look(condition, NOTHING).holds is holds, told
    # Where server and time of the transaction are laid beside it, no clock of two servers is.
    assert _of_the_backup(TOLD.replace("gtids=0-1-45", "gtids=0-1-45 since=261122~4:30:00")).until == ""
    for odd in ("261122", "269922~4:30:00", "260231~4:30:00", "-"):
        assert _of_the_backup(begun.replace("261122~4:30:00", odd)).until == "", odd


@pytest.mark.parametrize(
    ("gtids", "ids", "holds"),
    [
        ("0-1-45", "12", True),
        ("0-3-45", "12", False),
        ("-", "12", None),
        ("0-1-99", "12", None),
        ("0-1-45", "11", None),
    ],
)
def test_that_a_backup_of_a_losing_side_with_the_logs_of_the_winning_one_is_refused(
    gtids: str, ids: str, holds: bool | None
) -> None:
    """UUID, seqno and binary logs are right; only the members' transaction at the backup's seqno shows it."""
    hosts = _with_marks(ids)
    condition = _of_the_backup(TOLD.replace("gtids=0-1-45", f"gtids={gtids}"))
    found = Attempt(hosts, ManualClock()).look(condition, NOTHING)
    assert (found.holds, found.final) == (holds, holds is False)


def test_that_the_nodes_own_binary_logs_are_taken_from_where_its_old_data_were_moved() -> None:
    _, _, then = continued(facts_told(), binlogs=DATADIR)
    replay = step_of(then, "replay-n3").action
    assert isinstance(replay, Detached)
    assert replay.command.argv[5] == f"{DATADIR}.pilothouse-before"


def test_that_nothing_to_compare_blocks_until_a_person_gives_a_reason_and_is_told_at_the_end() -> None:
    facts = facts_told()
    barred = with_parts(facts, "n1", RootLogin(works=False))
    check = checks_of(barred)["COMPARE"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, False)
    assert checks_of(barred, tables="shop.orders")["COMPARE"].verdict is not Verdict.BLOCK
    assert checks_of(facts)["COMPARE"].verdict is not Verdict.BLOCK
    assert step_of(continued(facts)[2], "same-rows-n3").done.startswith(
        "All rows that were compared on n3 and n1 are equal"
    )
    _, _, then = continued(facts, tables="shop.orders")
    assert step_of(then, "compare-n3").done == "1 table of n3 and n1 is equal"


def test_that_a_full_member_needs_nothing() -> None:
    facts = facts_of(whole("n1", "n2", "n3"))
    assert PROCEDURE.plan(facts, INPUTS).nothing_to_do
    assert PROCEDURE.faults(facts, {"joiner": "n3"}) == ()


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("backup", DATADIR),
        ("backup", f"{DATADIR}/backup"),
        ("binlogs", f"{DATADIR}/logs"),
        ("backup", "srv/backup"),
        ("backup", "/srv/../etc"),
        ("binlogs", "/srv/$(id)"),
    ],
)
def test_that_a_folder_that_can_not_be_right_is_a_fault(field: str, path: str) -> None:
    assert field in {fault.field for fault in PROCEDURE.faults(facts_told(), {**INPUTS, field: path})}


# -- refused before anything is looked at ------------------------------------------------------------------------------


def test_that_pxc_8_and_galera_3_are_refused_on_recorded_facts_because_the_lab_has_neither() -> None:
    facts = facts_told()
    assert "PXC-POSITION" in checks_of(with_parts(facts, "n3", Program("mysqld Ver 8.0.36", (8, 0, 36))))
    assert "GALERA-THREE" in checks_of(with_parts(facts, "n3", Program("mysqld Ver 5.7.44", (5, 7, 44))))
    old = checks_of(with_parts(facts, "n3", Program("mariadbd Ver 10.3.39-MariaDB", (10, 3, 39))))["GALERA-THREE"]
    assert (old.verdict, old.absolute) == (Verdict.BLOCK, True)
    host = facts.host("n1")
    assert host.node is not None
    assert host.node.server is not None
    pxc = replace(host.node.server, flavour=Flavour.PXC, version_key=(8, 0, 36))
    assert isinstance(pxc, ServerFacts)
    seen = replace(facts, hosts=tuple(
        replace(one, node=replace(host.node, server=pxc)) if one.host == "n1" else one for one in facts.hosts
    ))  # fmt: skip
    assert "PXC-POSITION" in checks_of(seen)


def test_that_a_server_that_runs_is_never_rebuilt() -> None:
    facts = facts_told()
    running = replace(facts, hosts=tuple(
        replace(one, server_up=True) if one.host == "n3" else one for one in facts.hosts
    ))  # fmt: skip
    check = checks_of(running)["STOPPED"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, True)


def test_that_a_node_whose_own_data_reach_by_ist_is_not_rebuilt() -> None:
    facts = facts_told()
    near = replace(facts.host("n3")[DataFolder], grastate=Grastate(CLUSTER, 995, safe_to_bootstrap=False))
    assert checks_of(with_parts(facts, "n3", near))["OWN-REACH"].verdict is Verdict.BLOCK
    assert checks_of(facts)["OWN-REACH"].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("binlog_do_db", "shop", "FILTERS"),
        ("replicate_wild_ignore_table", "x.%", "FILTERS"),
        ("slave_exec_mode", "IDEMPOTENT", "FILTERS"),
        ("slave_skip_errors", "1062", "FILTERS"),
        ("slave_run_triggers_for_rbr", "YES", "FILTERS"),
        ("log_bin", "/var/log/mysql/mysql-bin", "OWN-LOG"),
        ("log_bin", "../log/mysql-bin", "OWN-LOG"),
        ("log_bin", "logs/mysql-bin", "OWN-LOG"),
        ("log_bin_index", "../log/mysql-bin.index", "OWN-LOG"),
        ("wsrep_gtid_mode", "ON", "GTID-MODE"),
        ("innodb_log_group_home_dir", "/srv/redo", "ONE-FOLDER"),
        ("innodb_data_home_dir", "/srv/ibdata", "ONE-FOLDER"),
        ("innodb_undo_directory", "/srv/undo", "ONE-FOLDER"),
        ("aria_log_dir_path", "/srv/aria", "ONE-FOLDER"),
        ("wsrep_provider_options", "gcache.size=1G;gcache.dir=/srv/cache", "ONE-FOLDER"),
    ],
)
def test_that_options_that_make_it_unsafe_refuse_it(option: str, value: str, code: str) -> None:
    facts = facts_told()
    options = facts.host("n3")[Options]
    given = tuple(one for one in options.given if one[1] != option)
    seen = with_parts(facts, "n3", replace(options, given=(*given, ("mysqld", option, value))))
    assert checks_of(seen)[code].verdict is Verdict.BLOCK


def test_that_a_joiner_that_sends_rows_into_another_schema_never_replays() -> None:
    """Tried on MariaDB 10.11.18: a BINLOG statement minds replicate_rewrite_db, its rows land in the other schema."""
    facts = facts_told()
    for host, absolute in (("n3", True), ("n1", False)):
        options = facts.host(host)[Options]
        given = (*options.given, ("mysqld", "replicate_rewrite_db", "shop->old"))
        check = checks_of(with_parts(facts, host, replace(options, given=given)))["FILTERS"]
        assert (check.verdict, check.absolute) == (Verdict.BLOCK, absolute)


@pytest.mark.parametrize("value", ["mysql-bin", "./mysql-bin", f"{DATADIR}/mysql-bin", ""])
def test_that_a_binary_log_right_in_the_data_folder_is_kept_aside_with_it(value: str) -> None:
    facts = facts_told()
    options = facts.host("n3")[Options]
    given = tuple(one for one in options.given if one[1] != "log_bin")
    seen = with_parts(facts, "n3", replace(options, given=(*given, ("mysqld", "log_bin", value))))
    assert checks_of(seen)["OWN-LOG"].verdict is Verdict.PASS


def test_that_a_member_with_gtids_in_its_positions_refuses_it() -> None:
    facts = facts_told()
    mode = Variables((("wsrep_gtid_mode", "ON"),))
    assert checks_of(with_parts(facts, "n1", mode))["GTID-MODE"].verdict is Verdict.BLOCK


def test_that_members_that_send_transactions_in_parts_refuse_it() -> None:
    """What is open at the target is in no binary log; tried on 10.11.18: Synced, and its rows are missing."""
    facts = facts_told()
    for size, wanted in (("8192", Verdict.BLOCK), ("0", Verdict.WARN)):
        check = checks_of(with_parts(facts, "n1", Variables((("wsrep_trx_fragment_size", size),))))["STREAMING"]
        assert (check.verdict, check.not_known) == (wanted, size == "0")  # of n2 it is not known
    none = Variables((("wsrep_trx_fragment_size", "0"),))
    assert checks_of(with_parts(with_parts(facts, "n1", none), "n2", none))["STREAMING"].verdict is Verdict.PASS


def test_that_the_nodes_log_shows_that_no_transaction_came_in_part_before_all_is_told_to_be_well() -> None:
    then = continued(facts_told())[2]
    proof = step_of(then, "fragments-n3").action
    assert isinstance(proof, WaitFor)
    (found,) = proof.conditions
    assert isinstance(found, FragmentsWhole)
    assert (found.host, found.since_step) == ("n3", "start-n3")


def test_that_old_data_that_are_ahead_of_the_members_are_not_put_aside() -> None:
    facts = facts_told()
    state = Grastate(uuid=CLUSTER, seqno=10**9, safe_to_bootstrap=False)
    ahead = with_parts(facts, "n3", replace(facts.host("n3")[DataFolder], grastate=state))
    assert checks_of(ahead)["OLD-DATA"].verdict is Verdict.BLOCK
    assert continued(ahead)[0]["OLD-DATA"].verdict is Verdict.BLOCK
    killed = checks_of(facts)["OLD-DATA"]
    assert (killed.verdict, killed.not_known) == (Verdict.WARN, True)
    stopped = replace(facts.host("n3")[DataFolder], grastate=replace(state, seqno=1_000))
    assert checks_of(with_parts(facts, "n3", stopped))["OLD-DATA"].verdict is Verdict.PASS


def test_that_without_mariadb_backup_nothing_begins() -> None:
    assert checks_of(with_parts(facts_told(), "n3", Tools(("socat",))))["BACKUP-TOOL"].verdict is Verdict.BLOCK


def test_that_the_questions_say_what_is_not_carried_and_not_taken() -> None:
    asked = {field.name: field.help for field in PROCEDURE.fields(facts_told(), INPUTS)}
    assert "to the node first; the run takes none from a donor" in asked["backup"]
    assert "copy those of another member to the node first" in asked["binlogs"]


def test_that_a_folder_for_the_command_is_quoted_as_one_word() -> None:
    assert carried("/srv/a b/", "h") == (
        "tar -C '/srv/a b' -cf - . | ssh h 'sudo mkdir -p '\"'\"'/srv/a b'\"'\"' && "
        "sudo tar -C '\"'\"'/srv/a b'\"'\"' -xpf -'"
    )


def test_that_the_card_says_what_it_is() -> None:
    assert isinstance(PROCEDURE, RejoinFromBinlogs)
    assert PROCEDURE.about.node_field == "joiner"
