"""rejoin-from-binlogs: what is refused with which code, and what the plan is made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.ports import Rows
from services.facts.model import ServerFacts
from services.facts.state_files import Grastate
from services.facts.write_rate import Rates
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.rejoin_from_binlogs import private_programs as private
from services.procedures.catalogue.galera.rejoin_from_binlogs.judging import carried
from services.procedures.catalogue.galera.rejoin_from_binlogs.procedure import RejoinFromBinlogs
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey import survey_name
from services.procedures.conditions.galera.chain_known import ChainKnown
from services.procedures.conditions.galera.ist_reaches import IstReaches
from services.procedures.conditions.galera.restored_history import RestoredHistory
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.plan.actions import Detached, PutFile, WaitFor
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.fields import Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants import violations
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.variables import Variables
from services.types import Flavour
from tests.faults.scripted.cluster import CLUSTER, DATADIR, Cluster, whole
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.rejoining import GTID, SURVEYED, TARGET
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, out

PROCEDURE = procedure_named("rejoin-from-binlogs")
INPUTS: Inputs = {"joiner": "n3", "backup": "/srv/backup", "binlogs": "/srv/binlogs"}
TOLD = SURVEYED.removeprefix("survey: ")


def _cluster() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.kill(cluster.hosts["n3"])
    return cluster


def _facts(told: str = TOLD) -> Facts:
    return facts_of(_cluster(), ((survey_name("n3"), told),))


def _with(facts: Facts, host: str, *parts: object) -> Facts:
    changed = facts.host(host)
    for part in parts:
        changed = changed.with_part(part)  # type: ignore[arg-type]
    return replace(facts, hosts=tuple(changed if one.host == host else one for one in facts.hosts))


def _checks(facts: Facts, **inputs: str) -> dict[str, Check]:
    return {check.code: check for check in PROCEDURE.preflight(facts, {**INPUTS, **inputs})}


def _later(facts: Facts, **inputs: str) -> tuple[dict[str, Check], Plan, Plan]:
    given = {**INPUTS, **inputs}
    first = PROCEDURE.plan(facts, given)
    checks, then = PROCEDURE.continued(facts, given, first)
    assert violations(then) == ()
    return {check.code: check for check in checks}, first, then


def _step(plan: Plan, step_id: str) -> Step:
    return next(step for step in plan.steps if step.step_id == step_id)


# -- the plan ----------------------------------------------------------------------------------------------------------


def test_that_the_first_part_only_reads_and_nothing_is_changed_before_it_was_judged() -> None:
    plan = PROCEDURE.plan(_facts(), INPUTS)
    assert [step.step_id for step in plan.steps] == ["survey-n3", "chain-known"]
    assert {step.risk.value for step in plan.steps} == {"reads"}


def test_that_the_second_part_restores_replays_sets_the_position_and_only_then_names_the_cluster() -> None:
    checks, first, then = _later(_facts())
    assert [code for code, check in checks.items() if check.verdict is Verdict.BLOCK] == []
    assert then.steps[: len(first.steps)] == first.steps
    assert [step.step_id for step in then.steps[2:]] == [
        "past-n3", "restart-off-n3", "hold-n3", "keep-data-n3", "new-data-n3", "prepare-n3", "copy-back-n3", "tidy-n3",
        "identity-n3", "owner-n3", "notes-n3", "replay-n3", "set-position-n3", "no-private-n3",
        "recover-n3", "position-n3", "unmark-n3", "state-n3",
        "name-donor-n3", "start-n3", "transfer-n3", "forget-donor-n3", "restart-on-n3", "settle-n3", "whole",
    ]  # fmt: skip


def test_that_the_replay_begins_once_on_data_that_name_no_state_and_ends_where_it_was_planned() -> None:
    _, _, then = _later(_facts())
    replay = _step(then, "replay-n3")
    assert isinstance(replay.action, Detached)
    words = replay.action.command.argv
    assert words[4:] == (
        DATADIR, "/srv/binlogs", "4000", "899000", GTID, str(TARGET), "940", f"/run/pilothouse/replay-{TARGET}.log",
        "mysql-bin.000007",
    )  # fmt: skip
    assert not replay.repeatable
    assert FileAbsent("n3", private.MARKER) in replay.before
    assert FileAbsent("n3", f"{DATADIR}/grastate.dat") in replay.before
    assert any(isinstance(one, IstReaches) and one.stopped_at == TARGET for one in replay.before)


def test_that_the_reach_and_the_position_are_read_again_right_before_the_start() -> None:
    _, _, then = _later(_facts())
    start = _step(then, "start-n3")
    reaches = [one for one in start.before if isinstance(one, IstReaches)]
    assert {one.donors for one in reaches} == {("n1", "n2"), ("n1",)}
    assert {one.stopped_at for one in reaches} == {TARGET}
    state = _step(then, "state-n3").action
    assert isinstance(state, PutFile)
    assert f"uuid:    {CLUSTER}\nseqno:   -1\n" in "".join(map(str, state.content))


def _of_the_backup(told: str = TOLD, **inputs: str) -> RestoredHistory:
    _, _, then = _later(_facts(told), **inputs)
    past = _step(then, "past-n3").action
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
    hosts = ScriptedHosts("n1", "n2", "n3")
    for name, number in zip(("n1", "n2"), ids, strict=True):
        session = hosts.sessions[name]
        for query, key, value in (
            ("Variable_name IN", "log_bin_index", "/var/lib/mysql/mysql-bin.index"),
            ("Variable_name = 'server_id'", "server_id", f"1{number}"),
        ):
            session.rows[f"SHOW GLOBAL VARIABLES WHERE {query}"] = Rows(("Variable_name", "Value"), ((key, value),))
        session.programs["timeout"] = out("mark 261122 5:00:00 1 0-1-45 50\nmark 261122 5:00:01 1 0-1-46 51\n")
    condition = _of_the_backup(TOLD.replace("gtids=0-1-45", f"gtids={gtids}"))
    found = Attempt(hosts, ManualClock()).look(condition, NOTHING)
    assert (found.holds, found.final) == (holds, holds is False)


def test_that_the_nodes_own_binary_logs_are_taken_from_where_its_old_data_were_moved() -> None:
    _, _, then = _later(_facts(), binlogs=DATADIR)
    replay = _step(then, "replay-n3").action
    assert isinstance(replay, Detached)
    assert replay.command.argv[5] == f"{DATADIR}.pilothouse-before"


def test_that_nothing_to_compare_blocks_until_a_person_gives_a_reason_and_is_told_at_the_end() -> None:
    facts = _facts()
    check = _checks(facts)["COMPARE"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, False)
    assert _checks(facts, tables="shop.orders")["COMPARE"].verdict is not Verdict.BLOCK
    assert _step(_later(facts)[2], "whole").done.endswith("nothing was compared: no table was chosen")
    _, _, then = _later(facts, tables="shop.orders")
    assert "compared" not in _step(then, "whole").done
    assert then.steps[-1].done == "1 table of n3 and n1 is equal"


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
    assert field in {fault.field for fault in PROCEDURE.faults(_facts(), {**INPUTS, field: path})}


# -- refused before anything is looked at ------------------------------------------------------------------------------


def test_that_pxc_8_and_galera_3_are_refused_on_recorded_facts_because_the_lab_has_neither() -> None:
    facts = _facts()
    assert "PXC-POSITION" in _checks(_with(facts, "n3", Program("mysqld Ver 8.0.36", (8, 0, 36))))
    assert "GALERA-THREE" in _checks(_with(facts, "n3", Program("mysqld Ver 5.7.44", (5, 7, 44))))
    old = _checks(_with(facts, "n3", Program("mariadbd Ver 10.3.39-MariaDB", (10, 3, 39))))["GALERA-THREE"]
    assert (old.verdict, old.absolute) == (Verdict.BLOCK, True)
    host = facts.host("n1")
    assert host.node is not None
    assert host.node.server is not None
    pxc = replace(host.node.server, flavour=Flavour.PXC, version_key=(8, 0, 36))
    assert isinstance(pxc, ServerFacts)
    seen = replace(facts, hosts=tuple(
        replace(one, node=replace(host.node, server=pxc)) if one.host == "n1" else one for one in facts.hosts
    ))  # fmt: skip
    assert "PXC-POSITION" in _checks(seen)


def test_that_a_server_that_runs_is_never_rebuilt() -> None:
    facts = _facts()
    running = replace(facts, hosts=tuple(
        replace(one, server_up=True) if one.host == "n3" else one for one in facts.hosts
    ))  # fmt: skip
    check = _checks(running)["STOPPED"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, True)


def test_that_a_node_whose_own_data_reach_by_ist_is_not_rebuilt() -> None:
    facts = _facts()
    near = replace(facts.host("n3")[DataFolder], grastate=Grastate(CLUSTER, 995, safe_to_bootstrap=False))
    assert _checks(_with(facts, "n3", near))["OWN-REACH"].verdict is Verdict.BLOCK
    assert _checks(facts)["OWN-REACH"].verdict is Verdict.PASS


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
    facts = _facts()
    options = facts.host("n3")[Options]
    given = tuple(one for one in options.given if one[1] != option)
    seen = _with(facts, "n3", replace(options, given=(*given, ("mysqld", option, value))))
    assert _checks(seen)[code].verdict is Verdict.BLOCK


@pytest.mark.parametrize("value", ["mysql-bin", "./mysql-bin", f"{DATADIR}/mysql-bin", ""])
def test_that_a_binary_log_right_in_the_data_folder_is_kept_aside_with_it(value: str) -> None:
    facts = _facts()
    options = facts.host("n3")[Options]
    given = tuple(one for one in options.given if one[1] != "log_bin")
    seen = _with(facts, "n3", replace(options, given=(*given, ("mysqld", "log_bin", value))))
    assert _checks(seen)["OWN-LOG"].verdict is Verdict.PASS


def test_that_a_member_with_gtids_in_its_positions_refuses_it() -> None:
    facts = _facts()
    mode = Variables((("wsrep_gtid_mode", "ON"),))
    assert _checks(_with(facts, "n1", mode))["GTID-MODE"].verdict is Verdict.BLOCK


def test_that_old_data_that_are_ahead_of_the_members_are_not_put_aside() -> None:
    facts = _facts()
    state = Grastate(uuid=CLUSTER, seqno=10**9, safe_to_bootstrap=False)
    ahead = _with(facts, "n3", replace(facts.host("n3")[DataFolder], grastate=state))
    assert _checks(ahead)["OLD-DATA"].verdict is Verdict.BLOCK
    assert _later(ahead)[0]["OLD-DATA"].verdict is Verdict.BLOCK
    assert _checks(facts)["OLD-DATA"].verdict is Verdict.PASS


def test_that_without_mariadb_backup_nothing_begins() -> None:
    assert _checks(_with(_facts(), "n3", Tools(("socat",))))["BACKUP-TOOL"].verdict is Verdict.BLOCK


# -- refused by what was found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (f"uuid={CLUSTER}", "uuid=aaaaaaaa-2222-11f0-9c0e-3b2f8d5a7c11", "OTHER-UUID"),
        ("kind=full-backuped", "kind=incremental", "BACKUP-KIND"),
        ("kind=full-backuped", "kind=compressed", "BACKUP-KIND"),
        ("kind=full-backuped", "kind=log-applied", "BACKUP-USED"),
        ("kind=full-backuped", "kind=full-prepared", "BACKUP-USED"),
        ("last=990", "last=999999", "AHEAD"),
        ("stmts=0 stmtat=-", "stmts=1 stmtat=5000", "STATEMENT-EVENTS"),
        ("back=0", "back=1", "XID-ORDER"),
        ("xa=0", "xa=1", "XA"),
        ("odd=0", "odd=1", "BINLOG-UNREAD"),
        ("missing=0 hole=-", "missing=20 hole=99-120-0", "HOLES"),
        ("holes=0", "holes=61", "HOLES"),
        ("links=0 oldlinks=0", "links=1 oldlinks=0", "BACKUP-LINKED"),
        ("links=0 oldlinks=0", "links=0 oldlinks=2", "OLD-LINKED"),
        ("links=0 oldlinks=0", "links=- oldlinks=0", "BACKUP-LINKED"),
        ("recent=-,989~261122~6:00:00~1,990~261122~6:00:00~1", "recent=-", "BINLOG-UNREAD"),
        ("above=51 abovefrom=4000", "above=- abovefrom=-", "NO-TARGET"),
        ("last=990", "last=60", "RACE"),
        ("size=500000000", "size=900000000000", "DISK-ROOM"),
    ],
)
def test_that_each_thing_wrong_with_the_files_stops_before_anything_is_changed(old: str, new: str, code: str) -> None:
    assert old in TOLD
    checks, _, _ = _later(_facts(TOLD.replace(old, new)))
    assert checks[code].verdict is Verdict.BLOCK


def test_that_other_versions_are_refused() -> None:
    one = TOLD.replace("version=10.11.18-MariaDB-log log=", "version=10.11.17-MariaDB-log log=")
    assert _later(_facts(one))[0]["SERVER-VERSION"].verdict is Verdict.BLOCK
    both = TOLD.replace("10.11.18", "10.11.17")
    assert _later(_facts(both))[0]["SERVER-VERSION-JOINER"].verdict is Verdict.BLOCK


def test_that_a_backup_from_which_ist_reaches_needs_no_binary_logs() -> None:
    near = TOLD.replace("stands=50 ", "stands=500 ").replace("below=50", "below=500").replace("above=51", "above=501")
    check = _later(_facts(near))[0]["IST-REACHES"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, False)
    assert "rejoin-from-incrementals" in check.try_[0]


def test_that_the_race_is_told_with_its_numbers_and_refused_where_it_will_be_lost() -> None:
    facts = _facts()
    fast = Rates(200e6, 50.0, 2.0)
    lost = _with(_with(facts, "n1", WriteRate(fast)), "n2", WriteRate(fast))
    assert _later(facts)[0]["RACE"].verdict is not Verdict.BLOCK
    check = _later(lost)[0]["RACE"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, False)
    assert "s more by bytes" in check.evidence


@pytest.mark.parametrize(
    "told", ["refused BACKUP it says no position", "refused BINLOGS no file", "refused LEFT x", "nonsense", ""]
)
def test_that_what_could_not_be_read_ends_the_plan_there(told: str) -> None:
    checks, first, then = _later(_facts(told))
    assert then == first
    code = "BACKUP-UNREAD" if "BACKUP" in told else "REPLAY-LEFT" if "LEFT" in told else "BINLOG-UNREAD"
    assert (checks[code].verdict, checks[code].absolute) == (Verdict.BLOCK, True)


@pytest.mark.parametrize(
    ("told", "code", "place"),
    [("refused NOBACKUP /srv/backup is no", "BACKUP-ABSENT", "/srv/backup"),
     ("refused NOLOGS /srv/binlogs is no", "BINLOGS-ABSENT", "/srv/binlogs")],
)  # fmt: skip
def test_that_what_is_not_on_the_node_is_refused_with_the_command_that_brings_it_there(
    told: str, code: str, place: str
) -> None:
    checks, first, then = _later(_facts(told))
    assert then == first
    assert (checks[code].verdict, checks[code].absolute) == (Verdict.BLOCK, True)
    address = _facts(told).host("n3").address or "n3"
    there = f"'sudo mkdir -p {place} && sudo tar -C {place} -xpf -'"
    assert checks[code].try_[0].endswith(f"as root: tar -C {place} -cf - . | ssh {address} {there}")


def test_that_the_questions_say_what_is_not_carried_and_not_taken() -> None:
    asked = {field.name: field.help for field in PROCEDURE.fields(_facts(), INPUTS)}
    assert "must be copied to the node first; none is taken from a donor" in asked["backup"]
    assert "those of another member must be copied to the node first" in asked["binlogs"]


def test_that_a_folder_for_the_command_is_quoted_as_one_word() -> None:
    assert carried("/srv/a b/", "h") == (
        "tar -C '/srv/a b' -cf - . | ssh h 'sudo mkdir -p '\"'\"'/srv/a b'\"'\"' && "
        "sudo tar -C '\"'\"'/srv/a b'\"'\"' -xpf -'"
    )


def test_that_the_card_says_what_it_is() -> None:
    assert isinstance(PROCEDURE, RejoinFromBinlogs)
    assert PROCEDURE.about.node_field == "joiner"
