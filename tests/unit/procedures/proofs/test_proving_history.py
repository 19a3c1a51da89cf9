"""May a node be started: by its state file, by what this run saw, by the traces of a fork recorded from the lab."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import SystemClock
from services.connections.ports import Output, Rows
from services.errors import Unreachable
from services.facts.galera.state_files import ZERO_UUID
from services.procedures.conditions.galera.data.at_rest import PositionMark
from services.procedures.conditions.galera.history.same import SameHistory
from services.procedures.plan.condition import Kept
from services.procedures.plan.host_facts import Facts, TwoPrimaries
from services.procedures.plan.looks import Past
from services.procedures.plan.pasts.positions import mark_name, stood_name
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.scripted_sessions import ScriptedHosts
from tests.unit.recorded.histories_recorded import FOLDER, UUID

BEFORE_START = SameHistory("s3", ("s1", "s2"), UUID, "mariadb.service", "/var/lib/mysql")


def output(text: str, code: int = 0, said: str = "") -> Output:
    return Output(code, text.encode(), said.encode())


def told(host: str, *, to: int = 10**9) -> str:
    """Return what both reads of a history tell of a host; the views and marks up to a seqno."""
    views = (FOLDER / f"fork-{host}.views").read_text()
    if to < 20:
        views = "\n".join(views.splitlines()[views.splitlines().index(_at(views, 15)) - 8 :])
    marks = [line for line in (FOLDER / f"fork-{host}.marks").read_text().splitlines() if line.split()[-1] != "-"]
    return "\n".join([views, *(line for line in marks if int(line.split()[-1]) <= to)])


def _at(views: str, seqno: int) -> str:
    return next(line for line in views.splitlines() if line.endswith(f"id: {UUID}:{seqno}"))


def hosts(seqno: int, *, to: int = 10**9, uuid: str = UUID) -> ScriptedHosts:
    """s1 and s2 serve at seqno 27; s3 is down at `seqno`."""
    made = ScriptedHosts("s1", "s2", "s3")
    for name in ("s1", "s2"):
        session = made.sessions[name]
        session.state = {
            "wsrep_cluster_state_uuid": UUID,
            "wsrep_cluster_status": "Primary",
            "wsrep_last_committed": "27",
        }
        rows = (("datadir", "/var/lib/mysql/"), ("log_bin", "ON"), ("log_bin_index", "/var/lib/mysql/mysql-bin.index"))
        session.rows = {"SHOW GLOBAL VARIABLES": Rows(("Variable_name", "Value"), rows)}
        session.programs = {"timeout": output(told("s1")), "my_print_defaults": output("")}
    away = made.sessions["s3"]
    away.state = Unreachable("Refused.", host="s3")
    away.programs = {
        "cat": output(f"uuid: {uuid}\nseqno: {seqno}\nsafe_to_bootstrap: 0\n"),
        "timeout": output(told("s3", to=to)),
        "my_print_defaults": output("--log_bin=mysql-bin\n"),
    }
    return made


LISTED = "-rw-rw---- 1 101 101 100663296 2026-11-22 10:00:00.000000000 +0000 ib_logfile0\n"


def mark(made: ScriptedHosts, host: str) -> str:
    """Return the mark that a run keeps when it has stopped a node."""
    made.sessions[host].programs["ls"] = output(LISTED)
    answer = prover(made).look(PositionMark(host, "/var/lib/mysql", "it"), Past({}, {}))
    return dict(answer.kept)["it"]


def prover(made: ScriptedHosts) -> RealProver:
    return RealProver(made, SystemClock())


def test_that_a_fork_is_never_started_by_whomever_it_was_accepted() -> None:
    for accepted in (False, True):
        condition = SameHistory("s3", ("s1", "s2"), UUID, "mariadb.service", "/var/lib/mysql", accepted=accepted)
        answer = prover(hosts(25)).look(condition, Past({}, {}))
        assert (answer.holds, answer.final) == (False, True)
        assert "s3 and s1, s2 have parted" in answer.evidence


def test_that_a_node_that_went_before_the_fork_may_return() -> None:
    answer = prover(hosts(19, to=19)).look(BEFORE_START, Past({}, {}))
    assert answer.holds is True, answer
    assert "the binary logs of s3 and s1 agree at Xid 19" in answer.evidence


def test_that_one_that_stands_where_this_run_stopped_it_is_not_read_again() -> None:
    made = hosts(19)
    made.sessions["s3"].programs["timeout"] = Unreachable("Not to be asked.", host="s3")
    condition = SameHistory("s3", ("s1",), UUID, "mariadb.service", "/var/lib/mysql", Kept("position-s3"))
    kept = {"position-s3": "19", stood_name("position-s3"): mark(made, "s3")}
    assert prover(made).look(condition, Past(kept, {})).holds is True
    moved = prover(made).look(condition, Past({**kept, "position-s3": "18"}, {}))
    assert moved.holds is not True


def test_that_a_server_that_ran_on_the_data_of_a_stopped_node_has_its_past_read_though_grastate_is_as_it_was() -> None:
    """A colleague ran it without its provider while the run waited for the work on it: its rows were forked."""
    made = hosts(19, to=19)
    condition = replace(BEFORE_START, stopped_at=Kept("position-s3"))
    kept = {"position-s3": "19", stood_name("position-s3"): mark(made, "s3")}
    made.sessions["s3"].programs["ls"] = output(
        LISTED.replace("100663296 2026-11-22 10:00", "100663296 2026-11-22 11:00")
    )
    ran = prover(made).look(condition, Past(kept, {}))
    assert ran.evidence.startswith(
        "a server ran on s3 since (ib_logfile0, 2026-11-22 11:00:00.000000000 +0000 is new), started by hand"
    )
    # Logs that agree don't show that it wrote nothing: --skip-log-bin, or a session with sql_log_bin = 0.
    assert "the binary logs of s3 and s1 agree at Xid 19" in ran.evidence
    assert "which is not enough: its history is not known" in ran.evidence
    assert (ran.holds, ran.final) == (False, True)
    assert prover(made).look(replace(condition, accepted=True), Past(kept, {})).holds is True
    made.sessions["s3"].programs["ls"] = output("", 2, "ls: cannot open directory")
    unread = prover(made).look(condition, Past(kept, {}))
    assert unread.evidence.startswith("whether a server ran on s3 since is not known")


@pytest.mark.parametrize("missing", ["file", "zero"])
def test_that_without_a_state_an_sst_comes_only_where_the_plan_knew_or_nothing_is_there(missing: str) -> None:
    made = hosts(-1, uuid=ZERO_UUID)
    if missing == "file":
        made.sessions["s3"].programs["cat"] = output("", 1, "cat: x: No such file or directory")
    made.sessions["s3"].programs["ls"] = output("ibdata1\nmysql-bin.000001\n")
    lost = prover(made).look(BEFORE_START, Past({}, {}))
    assert (lost.holds, lost.final) == (False, True)
    assert "an SST would erase the other contents of /var/lib/mysql" in lost.evidence
    planned = prover(made).look(replace(BEFORE_START, by_sst=True), Past({}, {}))
    assert planned.holds is True
    assert "it can only join by SST" in planned.evidence
    made.sessions["s3"].programs["ls"] = output("")
    assert prover(made).look(BEFORE_START, Past({}, {})).holds is True


def test_that_a_node_that_this_run_stopped_and_whose_start_failed_may_come_by_sst_where_a_member_has_all_of_it() -> (
    None
):
    stopped = replace(BEFORE_START, stopped_at=Kept("position-s3"))
    made = hosts(-1, uuid=ZERO_UUID)
    made.sessions["s3"].programs["ls"] = output("ibdata1\n")
    answer = prover(made).look(stopped, Past({"position-s3": "27"}, {}))
    assert answer.holds is True
    assert "it left s1's Primary Component at 27 in this run, and s1 has everything up to there" in answer.evidence
    beyond = prover(made).look(stopped, Past({"position-s3": "28"}, {}))
    assert (beyond.holds, beyond.final) == (False, True)


def test_that_a_seqno_in_the_file_that_is_not_where_this_run_saw_the_data_is_never_started_from() -> None:
    condition = replace(BEFORE_START, stopped_at=Kept("position-s3"))
    moved = prover(hosts(3)).look(condition, Past({"position-s3": "19"}, {}))
    assert (moved.holds, moved.final) == (False, True)
    assert "stopped at 19 in this run, and its grastate.dat says 3 now" in moved.evidence
    answer = prover(hosts(17, to=19)).look(BEFORE_START, Past({"recovered-s3": f"{UUID}:19"}, {}))
    assert (answer.holds, answer.final) == (False, True)
    assert "InnoDB of s3 recovered 19, and its grastate.dat says 17" in answer.evidence


def test_that_a_node_that_ran_again_since_this_run_stopped_it_may_start_though_its_log_has_no_new_xid() -> None:
    stopped = replace(BEFORE_START, stopped_at=Kept("position-s3"))
    answer = prover(hosts(18, to=17)).look(stopped, Past({"position-s3": "17"}, {}))
    assert prover(hosts(18, to=17)).look(BEFORE_START, Past({}, {})).holds is not True
    assert answer.holds is True, answer.evidence


@pytest.mark.parametrize("claimed", [17, 22])
def test_that_a_seqno_that_the_node_s_own_traces_don_t_account_for_is_not_known(claimed: int) -> None:
    answer = prover(hosts(claimed, to=19)).look(BEFORE_START, Past({}, {}))
    assert answer.holds is not True


def test_that_a_state_file_that_is_damaged_or_closed_is_not_known() -> None:
    made = hosts(19)
    made.sessions["s3"].programs["cat"] = output("uuid: nonsense\n")
    assert prover(made).look(BEFORE_START, Past({}, {})).holds is None
    made.sessions["s3"].programs["cat"] = output("", 1, "cat: x: Permission denied")
    assert prover(made).look(BEFORE_START, Past({}, {})).holds is None


def test_that_without_logs_it_is_not_known_and_only_a_person_s_word_lets_it_begin() -> None:
    made = hosts(-1)
    for session in made.sessions.values():
        session.programs["timeout"] = output("", 1)
    answer = prover(made).look(BEFORE_START, Past({}, {}))
    assert answer.holds is None
    assert "the log of s3 contains no Primary Component" in answer.evidence
    condition = SameHistory("s3", ("s1", "s2"), UUID, "mariadb.service", "/var/lib/mysql", accepted=True)
    answer = prover(made).look(condition, Past({}, {}))
    assert answer.holds is True
    assert "you accepted an unknown history" in answer.evidence


def test_that_what_a_run_recovered_is_the_position_that_counts() -> None:
    made = hosts(-1, to=19)
    assert prover(made).look(BEFORE_START, Past({}, {})).holds is None
    assert prover(made).look(BEFORE_START, Past({"recovered-s3": f"{UUID}:19"}, {})).holds is True
    assert prover(made).look(BEFORE_START, Past({"recovered-s3": f"{UUID}:20"}, {})).holds is False


def waiting(*, of_fork: bool) -> ScriptedHosts:
    """s1 and s3 run without a Primary Component: s3 where the fork left it, or where both were before."""
    made = hosts(-1, to=10**9 if of_fork else 19)
    del made.sessions["s2"]
    for name, at in (("s1", 27), ("s3", 25 if of_fork else 19)):
        session = made.sessions[name]
        session.rows = made.sessions["s1"].rows
        session.state = {
            "wsrep_cluster_state_uuid": UUID,
            "wsrep_local_state_uuid": UUID,
            "wsrep_cluster_status": "non-Primary",
            "wsrep_last_committed": str(at),
        }
    return made


def test_that_servers_without_a_primary_component_are_held_against_each_other_where_they_stand() -> None:
    condition = replace(BEFORE_START, hosts=("s1",), up=True)
    same = prover(waiting(of_fork=False)).look(condition, Past({}, {}))
    assert same.holds is True, same
    forked = prover(waiting(of_fork=True)).look(condition, Past({}, {}))
    assert (forked.holds, forked.final) == (False, True)
    silent = waiting(of_fork=False)
    silent.sessions["s3"].state = Unreachable("Refused.", host="s3")
    assert prover(silent).look(condition, Past({}, {})).holds is None


def test_that_what_was_once_seen_counts_before_a_start_too() -> None:
    seen = TwoPrimaries(UUID, 1.0, (("s1", "s2"), ("s3",)), "both answered")
    known = RealProver(hosts(19, to=19), SystemClock(), Facts(1.0, UUID, "lab", two_primaries=(seen,)))
    answer = known.look(BEFORE_START, Past({}, {}))
    assert (answer.holds, answer.final) == (False, True)
    assert "both answered" in answer.evidence


def test_that_a_transaction_that_the_members_filter_left_out_of_their_logs_does_not_keep_a_node_down() -> None:
    """Seen in a random night: a bootstrap began, and failed at the last start with nothing wrong, in an outage."""
    made = hosts(19, to=19)
    for name in ("s1", "s2"):
        kept = [line for line in told("s1").splitlines() if not line.endswith(" 0-41-14 18")]
        made.sessions[name].programs["timeout"] = output("\n".join(kept))
    looking = prover(made)
    assert "have parted" in looking.look(BEFORE_START, Past({}, {})).evidence
    filters = tuple((name, "binlog_ignore_db", "shop") for name in ("s1", "s2"))
    answer = looking.look(replace(BEFORE_START, filters=filters), Past({}, {}))
    assert answer.holds is True, answer
    assert (
        "apart from the transactions that s1 left out (s1: its server was started with binlog_ignore_db = shop"
        in answer.evidence
    )


def test_that_a_clean_stops_file_counts_more_than_what_innodb_said_before_the_run_started_it() -> None:
    """Seen in a random night: the undo of a bootstrap left three nodes down, each file further than was recovered."""
    made = hosts(19, to=19)
    asked = mark(made, "s3")
    kept = {"recovered-s3": f"{UUID}:17", mark_name("s3"): asked.replace(f"{UUID}:19:", f"{UUID}:-1:")}
    edited = prover(made).look(BEFORE_START, Past(kept, {}))  # nothing ran: somebody wrote that seqno
    assert (edited.holds, edited.final) == (False, True)
    assert "InnoDB of s3 recovered 17, and its grastate.dat says 19" in edited.evidence
    made.sessions["s3"].programs["ls"] = output(LISTED.replace("10:00", "11:00"))
    assert prover(made).look(BEFORE_START, Past(kept, {})).holds is True
    before = prover(made).look(
        BEFORE_START, Past({**kept, mark_name("s3"): asked}, {})
    )  # it said so when InnoDB did not
    assert before.final
