"""rejoin-from-incrementals on facts: the chain it proposes, the plan as text, each refusal with its code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.facts.backup.backups import Backup
from services.facts.galera.state_files import Grastate
from services.facts.model import DiskFacts
from services.facts.replication.write_rate import Rates
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.rejoin_from_incrementals.chain import best_chain
from services.procedures.catalogue.steps.restored.restoring import aside_path
from services.procedures.catalogue.steps.restored.restoring_programs import COPY_BACK
from services.procedures.catalogue.steps.restored.start_hold import SAID
from services.procedures.conditions.machine.owned import OwnedBy
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached, PutFile, Several
from services.procedures.plan.checks import Check, Override, Verdict, standing_blocks
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.parts.galera.backups import Backups
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.run_model import RunState, StepState
from tests.faults.scripted.cluster import CLUSTER, RESTORED, Cluster, parted, whole
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.running import Bench, Killed
from tests.unit.procedures.host_of import changed

RUN = procedure_named("rejoin-from-incrementals")
INPUTS = {"joiner": "n3"}


def _away() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.kill(cluster.hosts["n3"])
    return cluster


def _facts(**of_joiner: Any) -> Facts:
    facts = facts_of(_away())
    return replace(facts, hosts=tuple(changed(h, **of_joiner) if h.host == "n3" else h for h in facts.hosts))


def _chain() -> tuple[Backup, Backup]:
    full, later = facts_of(_away()).host("n3")[Backups].found or ()
    return full, later


def _with(*backups: Backup) -> Facts:
    return _facts(backups_found=backups)


def _named(*backups: Backup) -> dict[str, str]:
    full, *rest = (one.path for one in backups)
    return {**INPUTS, "full": full, "incrementals": ",".join(rest) or "none"}


def _blocks(facts: Facts, inputs: dict[str, str]) -> dict[str, Check]:
    assert RUN.faults(facts, inputs) == ()
    return {check.code: check for check in RUN.preflight(facts, inputs) if check.verdict is Verdict.BLOCK}


def _plan(facts: Facts, inputs: dict[str, str]) -> Plan:
    assert RUN.faults(facts, inputs) == ()
    plan = RUN.plan(facts, inputs)
    assert violations(plan) == ()
    return plan


def test_that_a_whole_chain_is_proposed_and_nothing_blocks() -> None:
    fields = {field.name: field.default for field in RUN.fields(_facts(), INPUTS)}
    assert (fields["full"], fields["incrementals"]) == ("/backup/full", "/backup/inc1")
    assert _blocks(_facts(), INPUTS) == {}


@pytest.mark.parametrize("writers", ["/tmp", None])
def test_that_what_others_than_root_may_have_laid_there_is_never_proposed_but_may_be_named(writers: str | None) -> None:
    full, later = _chain()
    forged = replace(later, path="/tmp/a", real="/tmp/a", uuid="b-9", seqno=RESTORED + 5, writers=writers)
    fields = {field.name: field.default for field in RUN.fields(_with(full, later, forged), INPUTS)}
    assert (fields["full"], fields["incrementals"]) == ("/backup/full", "/backup/inc1")
    alone = _with(replace(full, path="/tmp/b", real="/tmp/b", writers=writers))
    fields = {field.name: field.default for field in RUN.fields(alone, INPUTS)}
    assert (fields["full"], fields["incrementals"]) == ("", "none")
    named = {**INPUTS, "full": "/tmp/b", "incrementals": "none"}
    told = next(check for check in RUN.preflight(alone, named) if check.code == "BACKUP-FOUND")
    assert told.verdict is Verdict.PASS
    assert ("/tmp" if writers else "not known") in told.evidence.partition("at ")[2]


def test_that_the_steps_stand_in_their_order() -> None:
    ids = [step.step_id for step in _plan(_facts(), INPUTS).steps]
    assert ids == [
        "history-n3", "restart-off-n3", "down-n3", "copy-n3", "prepare-0-n3", "prepare-1-n3", "hold-n3",
        "held-out-n3", "keep-data-n3", "new-data-n3", "copy-back-n3", "identity-n3", "state-n3", "owner-n3",
        "recover-n3", "position-n3", "look-n3", "no-look-n3", "tables-open-n3",
        "name-donor-n3", "start-n3", "transfer-n3", "same-defined-n3", "same-rows-n3",
        "let-in-n3", "forget-donor-n3", "restart-on-n3", "clear-copies-n3",
        "settle-n3", "whole",
    ]  # fmt: skip


def test_that_each_prepare_writes_into_copies_alone_and_begins_a_single_time() -> None:
    plan = _plan(_facts(), INPUTS)
    for number in (0, 1):
        step = plan.step(f"prepare-{number}-n3")
        assert isinstance(step.action, Detached)
        words = step.action.command.argv
        assert "mariadb-backup" in words
        assert f"/var/lib/pilothouse/restore/pilothouse-restore-n3/began-{number}" in words
        assert not any("/backup/" in word for word in words[4:])
        assert not step.repeatable
    assert "--incremental-dir=/var/lib/pilothouse/restore/pilothouse-restore-n3/1" in words


def test_that_a_prepare_that_could_not_open_a_table_is_none_though_it_ends_with_ok() -> None:
    """mariadb-backup 10.11.18, tried: a grant that stood in Aria's log alone was lost."""
    action = _plan(_facts(), INPUTS).step("prepare-0-n3").action
    assert isinstance(action, Detached)
    position = "Recovered WSREP position: 0a9baafc-e833-11f1-988e-8319290952fc:7 domain_id: 0\n"
    said, end = "***WARNING: ./mysql/db could not be opened: Error: 13\n", "[00] completed OK!\n"
    assert re.search(action.pattern, f"begun\n{position}{end}")
    assert not re.search(action.pattern, f"begun\n{position}{said}{end}")
    assert not re.search(action.pattern, f"{said}{position}{end}")


def test_that_the_old_data_are_put_back_only_once_the_server_is_stopped() -> None:
    plan = _plan(_facts(), INPUTS)
    for step_id in ("keep-data-n3", "new-data-n3"):
        undo = plan.step(step_id).undo
        assert undo is not None
        assert any(isinstance(condition, Stopped) for condition in undo.waits)


def test_that_the_copy_goes_into_the_data_folder_alone_whatever_the_option_files_say() -> None:
    action = _plan(_facts(), INPUTS).step("copy-back-n3").action
    assert isinstance(action, Detached)
    assert action.command.argv[2] == COPY_BACK
    assert action.command.argv[4:8] == (
        "/var/lib/mysql",
        "/var/lib/mysql.pilothouse-before",
        "mariadb-backup",
        "--no-defaults",
    )
    for place in ("datadir", "innodb-log-group-home-dir", "innodb-data-home-dir", "innodb-undo-directory",
                  "aria-log-dir-path"):  # fmt: skip
        assert f"--{place}=/var/lib/mysql" in action.command.argv


def test_that_a_data_folder_that_is_a_mount_point_is_kept_inside_itself() -> None:
    facts = _facts(data_folder_disk=DiskFacts("/var/lib/mysql", "/dev/vdb", 10**12, 10**11))
    assert aside_path(facts.host("n3")) == "/var/lib/mysql/#sql-pilothouse-before.sst"
    assert _blocks(facts, INPUTS) == {}
    _plan(facts, INPUTS)


def test_that_there_is_nothing_to_do_for_a_member() -> None:
    plan = RUN.plan(facts_of(whole("n1", "n2", "n3")), INPUTS)
    assert plan.nothing_to_do


def _spent(full: Backup, later: Backup) -> tuple[Backup, ...]:
    return full, replace(later, spent=3)


REFUSED: tuple[tuple[str, Callable[[Backup, Backup], tuple[Backup, ...]]], ...] = (
    ("BACKUP-LINKED", lambda full, later: (replace(full, links=1), later)),
    ("BACKUP-LINKED", lambda full, later: (replace(full, hard=4), later)),
    ("BACKUP-LINKED", lambda full, later: (replace(full, real="/elsewhere/full"), later)),
    ("BACKUP-LINKED", lambda full, later: (replace(full, links=None), later)),
    ("BACKUP-PACKED", lambda full, later: (replace(full, packed=7), later)),
    ("BACKUP-PACKED", lambda full, later: (full, replace(later, compressed=True, packed=None))),
    ("BACKUP-PACKED", lambda full, later: (full, replace(later, encrypted=True, packed=None))),
    ("BACKUP-PACKED", lambda full, later: (replace(full, partial=True), later)),
    ("BACKUP-USED", _spent),
    ("BACKUP-USED", lambda full, later: (full, replace(later, metas=0))),
    ("BACKUP-USED", lambda full, later: (replace(full, kind="log-applied"), later)),
    ("BACKUP-USED", lambda full, later: (replace(full, kind="full-prepared"), later)),
    ("BACKUP-OPTIONS", lambda full, later: (full, replace(later, options="it names plugin_load=evil.so"))),
    ("BACKUP-OPTIONS", lambda full, later: (replace(full, options=None), later)),
    ("BACKUP-POSITION", lambda full, later: (full, replace(later, seqno=None))),
    ("BACKUP-CLUSTER", lambda full, later: (full, replace(later, state_uuid=f"aaaaaaaa{CLUSTER[8:]}"))),
    ("BACKUP-SERVER", lambda full, later: (full, replace(later, server=(10, 11, 17)))),
    ("BACKUP-SERVER", lambda full, later: (replace(full, tool=(10, 11, 9)), later)),
    ("CHAIN-FULL", lambda full, later: (later, full)),
    ("CHAIN-ORDER", lambda full, later: (full, later, replace(later, path="/backup/inc0", uuid="b-0.5", last_lsn=1))),
    ("CHAIN-ORDER", lambda full, later: (full, replace(later, began="2026-11-19 00:00:00"))),
    ("CHAIN-MISSING", lambda full, later: (full, replace(later, from_lsn=5_001))),
    ("CHAIN-LSN", lambda full, later: (full, replace(later, from_lsn=4_999))),
    ("CHAIN-NODE", lambda full, later: (full, replace(later, log="mysql-bin.000005"))),
    ("CHAIN-NODE", lambda full, later: (full, replace(later, log="mysql-bin.000003"))),
    ("CHAIN-NODE", lambda full, later: (full, replace(later, by=1))),
    ("IST-REACH", lambda full, later: (full, replace(later, seqno=981))),
)


@pytest.mark.parametrize(("code", "make"), REFUSED, ids=[f"{code}-{n}" for n, (code, _) in enumerate(REFUSED)])
def test_that_each_kind_of_bad_backup_is_refused_with_its_code(
    code: str, make: Callable[[Backup, Backup], tuple[Backup, ...]]
) -> None:
    backups = make(*_chain())
    facts = _with(*backups)
    if code == "IST-REACH":
        donors = tuple(
            h if h.node is None or h.node.galera is None
            else replace(h, node=replace(h.node, galera=replace(h.node.galera, cached_downto=983)))
            for h in facts.hosts
        )  # fmt: skip
        facts = replace(facts, hosts=donors)
    blocks = _blocks(facts, _named(*backups))
    assert code in blocks
    assert blocks[code].absolute


def test_that_an_sst_between_two_backups_is_never_ruled_out_and_a_chain_with_one_never_proposed() -> None:
    """Seen on real servers: full backup, SST, incremental: prepared without a word, the position right."""
    full, later = _chain()
    assert best_chain((full, replace(later, log="mysql-bin.000004"))) == (full,)
    assert best_chain((full, replace(later, by=2))) == (full,)

    def told(*backups: Backup) -> Check:
        checks = RUN.preflight(_with(*backups), _named(*backups))
        return next(check for check in checks if check.code == "CHAIN-NODE")

    assert told(replace(full, own="")).verdict is Verdict.PASS, "nothing is mixed with a full backup alone"
    assert told(full, later).verdict is Verdict.PASS
    assert told(full, replace(later, own="same")).verdict is Verdict.PASS, "killed before it wrote anything more"
    third = replace(later, path="/backup/inc2", uuid="b-2", log="mysql-bin.000007", since="261120 3:01:00")
    unknown = (
        (replace(full, own="absent"), later), (replace(full, own="same"), later), (replace(full, own=""), later),
        (full, replace(later, own="other")), (full, replace(later, own="same"), third),
        (full, replace(later, own="", log="", by=None)), (replace(full, by=9), replace(later, by=9)),
    )  # fmt: skip
    for backups in unknown:
        check = told(*backups)
        assert check.verdict is Verdict.BLOCK
        assert check.not_known
        assert standing_blocks((check,), ()) == (check,)
        assert standing_blocks((check,), (Override("CHAIN-NODE", "s3 had no SST since June"),)) == ()


def _not_known_why(**of_joiner: Any) -> str:
    blocks = _blocks(_facts(**of_joiner), INPUTS)
    assert set(blocks) == {"CHAIN-NODE"}
    assert not blocks["CHAIN-NODE"].absolute
    return blocks["CHAIN-NODE"].evidence


def test_that_the_nodes_logs_prove_nothing_where_they_may_be_anothers() -> None:
    """A donor's log comes with an SST: only a server id that no other node has tells whose it is."""
    own = _facts().host("n3")[Options].given
    assert "n1" in _not_known_why(options_given=(*own, ("mysqld", "server_id", "1")))
    assert "n3 is 7" in _not_known_why(options_given=(*own, ("mysqld", "server_id", "7")))
    assert "restored old logs of n3" in _not_known_why(options_given=(*own, ("sst", "sst_max_binlogs", "4")))


def test_that_a_binary_log_elsewhere_is_told_to_repeat_what_ist_brings_again() -> None:
    own = _facts().host("n3")[Options].given
    checks = RUN.preflight(_facts(options_given=(*own, ("mysqld", "log_bin", "/srv/log/mysql-bin"))), INPUTS)
    told = next(check for check in checks if check.code == "ONE-FOLDER")
    assert told.verdict is Verdict.WARN
    assert "with GTIDs that it already contains" in told.evidence


def test_that_a_backup_that_is_not_there_is_refused() -> None:
    assert "BACKUP-FOUND" in _blocks(_facts(), {**INPUTS, "full": "/nowhere/full", "incrementals": "none"})
    assert "BACKUP-FOUND" in _blocks(_facts(backups_found=()), {**INPUTS, "full": "/nowhere/full"})
    none = {check.code: check for check in RUN.preflight(_facts(backups_found=()), INPUTS)}
    assert any("rename them" in advice for advice in none["BACKUP-FOUND"].try_)
    assert none["IST-REACH"].evidence == "the last seqno of the backups is not known"


def test_that_no_room_on_the_volume_of_the_copies_is_refused() -> None:
    disks = (DiskFacts("/", "a", 10**12, 10**11), DiskFacts("/small", "b", 10**9, 10**7))
    blocks = _blocks(_facts(volumes_disks=disks), {**INPUTS, "scratch": "/small/copies"})
    assert blocks["DISK-ROOM"].absolute
    assert "/small" in blocks["DISK-ROOM"].evidence


def test_that_nobody_synced_as_a_donor_is_refused() -> None:
    facts = _facts()
    desynced = tuple(
        replace(h, node=replace(h.node, galera=replace(h.node.galera, local_state=2, local_state_comment="Donor")))
        if h.node is not None and h.node.galera is not None else h
        for h in facts.hosts
    )  # fmt: skip
    blocks = _blocks(replace(facts, hosts=desynced), INPUTS)
    assert {"DONOR-SYNCED", "IST-REACH"} <= blocks.keys()


def test_that_a_server_that_runs_a_foreign_folder_or_old_data_kept_before_are_refused() -> None:
    assert "JOINER-STOPPED" in _blocks(_facts(server_up=True), INPUTS)
    options = (("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1"), ("mysqld", "innodb_undo_directory", "/undo"))
    assert "ONE-FOLDER" in _blocks(_facts(options_given=options), INPUTS)
    aria = (*options[:1], ("mysqld", "aria_log_dir_path", "/aria"))
    assert "/aria" in _blocks(_facts(options_given=aria), INPUTS)["ONE-FOLDER"].evidence
    assert "JOINER-CONFIGURED" in _blocks(_facts(options_given=(("mysqld", "log_bin", "ON"),)), INPUTS)


def test_that_old_data_which_have_what_no_member_has_are_not_put_aside() -> None:
    assert "OLD-DATA" in _blocks(facts_of(parted("n1", "n2", "n3")), INPUTS)
    ahead = _facts(data_folder_grastate=Grastate(CLUSTER, 10**6, safe_to_bootstrap=False))
    assert "write sets that no member has" in _blocks(ahead, INPUTS)["OLD-DATA"].evidence


def test_that_settings_that_the_members_have_otherwise_are_refused() -> None:
    facts = _facts(options_given=(("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1"),
                                  ("mysqld", "lower_case_table_names", "1")))  # fmt: skip
    hosts = tuple(changed(h, variables_values=(("lower_case_table_names", "0"),)) if h.host == "n1" else h
                  for h in facts.hosts)  # fmt: skip
    assert "SETTINGS" in _blocks(replace(facts, hosts=hosts), INPUTS)


def test_that_copies_in_the_data_folder_or_in_a_backup_are_a_fault() -> None:
    for folder in ("/var/lib/mysql/x", "/var/lib", "/backup/full/x", "/backup", "relative", "/"):
        assert any(fault.field == "scratch" for fault in RUN.faults(_facts(), {**INPUTS, "scratch": folder})), folder


def test_that_a_table_that_is_no_plain_name_is_a_fault() -> None:
    for table in ("shop", "shop.`x`", "a.b.c", "a.b;drop"):
        assert any(fault.field == "tables" for fault in RUN.faults(_facts(), {**INPUTS, "tables": table})), table


def test_that_of_two_incrementals_at_the_same_lsns_the_earlier_comes_first() -> None:
    full, later = _chain()
    first = replace(later, path="/b/1", real="/b/1", from_lsn=5_000, to_lsn=5_000, last_lsn=5_200, seqno=985,
                    uuid="one", began="2026-11-20 01:30:00")  # fmt: skip
    second = replace(first, path="/b/2", real="/b/2", last_lsn=5_300, seqno=990, uuid="two",
                     began="2026-11-20 01:40:00", base="/b/1")  # fmt: skip
    assert [one.path for one in best_chain((second, full, first))] == ["/backup/full", "/b/1", "/b/2"]
    assert "CHAIN-ORDER" in _blocks(_with(full, first, second), _named(full, second, first))


def test_that_a_spent_or_linked_backup_is_never_proposed() -> None:
    full, later = _chain()
    assert best_chain((full, replace(later, spent=1))) == (full,)
    assert best_chain((replace(full, hard=1), later)) == ()


def test_that_a_node_that_serves_apart_is_not_stopped_by_an_undo_and_its_rows_stay_on_scripted_hosts() -> None:
    bench = Bench(_away(), "rejoin-from-incrementals", dict(INPUTS))
    bench.begin()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step transfer-n3 done)" in what:
            raise Killed

    bench.journal.told = told
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    joiner = bench.cluster.hosts["n3"]
    bench.cluster.found_beside(joiner)
    state, view = bench.engine().undo(), bench.engine().view
    assert state is RunState.UNDO_FAILED, view.sentence
    assert joiner.running
    assert joiner.apart
    assert joiner.has_data
    assert joiner.aside, "the old data stay where they were put, too"
    step = next(s for s in view.steps if s.step.step_id == "start-n3")
    assert step.state is not StepState.UNDONE


def test_that_nobody_can_start_the_node_while_its_data_are_exchanged_not_even_a_boot_on_scripted_hosts() -> None:
    bench = Bench(_away(), "rejoin-from-incrementals", dict(INPUTS))
    bench.begin()
    tried: list[tuple[str, bool]] = []

    def told(when: str, what: str) -> None:
        joiner = bench.cluster.hosts["n3"]
        if when != "after" or joiner.running or "(step " not in what:
            return
        boots = [text for path, text in joiner.files.items() if path.startswith("/etc/systemd/")]
        tried.append((what.split("(step ")[1].rstrip(")"), any("AssertPathExists=!" in text for text in boots)))

    bench.journal.told = told
    assert bench.run() is RunState.DONE
    held = [what for what, on in tried if on]
    assert (held[0], held[-1]) == ("hold-n3 proving", "start-n3 acting")
    first, last = tried.index((held[0], True)), tried.index((held[-1], True))
    assert all(on for _, on in tried[first : last + 1])


def test_that_the_recovery_of_restored_data_goes_with_their_folder() -> None:
    assert _plan(_facts(), INPUTS).step("recover-n3").goes_with == "new-data-n3"


def test_that_the_unit_says_why_it_can_not_be_started_and_what_is_to_be_done() -> None:
    """systemd's own word is 'Assertion failed'; it names the unit by its description, in the journal and in status."""
    action = _plan(_facts(), INPUTS).step("hold-n3").action
    assert isinstance(action, Several)
    put = next(one for one in action.actions if isinstance(one, PutFile))
    lines = "".join(map(str, put.content)).splitlines()
    unit = [line for line in lines if not line.startswith("#")]
    assert unit == ["[Unit]", f"Description={SAID}", f"AssertPathExists=!{put.path}"]
    assert "roll it back" in SAID


def test_that_starts_stay_forbidden_while_the_data_folder_is_roots() -> None:
    taken = _plan(_facts(data_folder_owner=106), INPUTS).step("hold-n3").takes
    assert taken is not None
    assert taken.release_once[0] == OwnedBy("n3", "/var/lib/mysql", 106), "whose it is has to be shown"
    again = _plan(_facts(), INPUTS).step("start-n3").undo
    assert again is not None
    assert again.takes is not None


def test_that_a_cache_whose_pace_is_not_known_is_neither_too_short_nor_long_enough() -> None:
    facts = _facts()

    def checked(**rates: Rates | None) -> Check:
        hosts = tuple(changed(h, rates=rates[h.host]) if h.host in rates else h for h in facts.hosts)
        checks = RUN.preflight(replace(facts, hosts=hosts), INPUTS)
        return next(check for check in checks if check.code == "IST-REACH")

    bulk = Rates(200e6, 50.0, 2.0)
    assert checked(n1=bulk, n2=bulk).verdict is Verdict.BLOCK
    check = checked(n1=bulk, n2=None)
    assert (check.verdict, check.not_known) == (Verdict.WARN, True)
    check = checked(n1=None, n2=None)
    assert (check.verdict, check.not_known) == (Verdict.WARN, True)
    assert checked(n1=Rates(0.0, 0.0, 2.0), n2=None).verdict is Verdict.PASS
