"""Which transfer brought a node: the server's own lines prove it, a client's make and void nothing, others witness it.

`ist-beside-listed-schemas.log` was recorded on the lab, and the names that a client gave a file were tried there
(MariaDB 10.11.18); which of the other witnesses there are is scripted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from services.clock import ManualClock
from services.connections.ports import Output, Rows
from services.connections.programs.read_programs import DATA_BORN
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.facts.logs.client_text import own_lines
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import Past
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.facts_of_three import facts
from tests.unit.procedures.scripted_sessions import ScriptedHosts, status
from tests.unit.recorded.histories_recorded import FOLDER

RECORDED = (FOLDER / "ist-beside-listed-schemas.log").read_text().replace("s3", "n3").replace("s2", "n2")
BEGAN = 1_795_866_456.0
COMPLAINT = "[ERROR] Invalid (old?) table or database name '"
START = "{at} n3 systemd[1]: Starting mariadb.service - MariaDB 10.11.18 database server..."
OWN = "{at} n3 mariadbd[9]: 2026-11-28 11:47:4{n} 0 [Note] WSREP: {text}"
IST = (
    "Prepared IST receiver for 101-140, listening at: tcp://10.0.0.3:4568",
    "Member 1.0 (n3) requested state transfer from '*any*'. Selected 2.0 (n2)(SYNCED) as donor.",
    "Receiving IST: 40 writesets, seqnos 101-140",
    "1.0 (n3): State transfer from 2.0 (n2) complete.",
)
SST = (
    "Prepared IST receiver for 0-140, listening at: tcp://10.0.0.3:4568",
    "Member 1.0 (n3) requested state transfer from '*any*'. Selected 2.0 (n2)(SYNCED) as donor.",
    "SST received: 2db77be0-e5aa-11f1-ae7d-76e16c615942:139",
    "1.0 (n3): State transfer from 2.0 (n2) complete.",
)
FAILED = (
    "{at} n3 mariadbd[9]: 2026-11-28 11:47:48 1 [ERROR] Slave SQL: Error 'Unknown table 'a'' on query. Query: 'drop /*"
)

OLD, NEW = "began 1795866456\nborn 1795860000\n", "began 1795866456\nborn 1795866470\n"
"""The file that an SST replaces lay there before the start, or came after it."""


def came(
    log: str,
    *,
    kind: Literal["IST", "SST", "any"] = "IST",
    donor: str = "",
    of_donor: str = "",
    born: str = "",
    method: str = "mariabackup",
    state: str = "4",
) -> Answer:
    """Look at how n3 came, by its log, the log of n2, and what DATA_BORN tells."""
    hosts = ScriptedHosts("n1", "n2", "n3")
    clock = ManualClock(BEGAN + 60.0)
    for name, session in hosts.sessions.items():
        session.state = {**status(), "wsrep_local_state": state}
        session.rows = {
            f"SHOW GLOBAL VARIABLES WHERE Variable_name = '{one}'": Rows(("n", "v"), ((one, value),))
            for one, value in (("wsrep_node_name", name), ("wsrep_sst_method", method))
        } | {"SHOW GLOBAL VARIABLES": Rows(("n", "v"), (("log_error", ""), ("datadir", "/var/lib/mysql")))}
        session.run = _answers({"n3": log, "n2": of_donor}.get(name, ""), born, clock)  # type: ignore[method-assign]
    prover = RealProver(hosts, clock, facts=facts())
    return prover.look(TransferWas("n3", kind, donor, "start-n3"), Past({}, {"start-n3": BEGAN}))


def _answers(log: str, born: str, clock: ManualClock) -> Callable[..., Output]:
    def run(read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        argv = command_of(read).argv
        if argv[0] == "date":
            return Output(0, str(clock.wall()).encode(), b"")
        if DATA_BORN in argv:
            return Output(0 if born else 3, born.encode(), b"")
        return Output(0, log.encode(), b"")

    return run


def journal(*texts: str, between: str = "", by: str = OWN) -> str:
    """Return a journal since the start, `between` before each line."""
    lines = [START.format(at=f"{BEGAN:.6f}")]
    for number, text in enumerate(texts, 1):
        at = f"{BEGAN + number:.6f}"
        lines += [line.format(at=at) for line in between.splitlines()]
        lines.append(by.format(at=at, n=number, text=text))
    return "\n".join(lines) + "\n"


def named(*lines: str) -> str:
    """Return the complaint about a file with line breaks in its name, as it stands in a journal."""
    first, *more = lines
    own = f"{{at}} n3 mariadbd[9]: 2026-11-28 11:47:48 10 {COMPLAINT}{first}"
    return "\n".join([own, *(f"{{at}} n3 mariadbd[9]: {line}" for line in more)]) + "'"


# -- a client's words void nothing -------------------------------------------------------------------------------------


def test_that_a_folder_in_the_data_folder_and_listed_schemas_void_no_recorded_ist() -> None:
    """The case that undid a night's work; the complaint stands right before the end of the transfer as well."""
    words = next(line for line in RECORDED.splitlines() if COMPLAINT in line).partition(": ")[2]
    ended = next(line for line in RECORDED.splitlines() if "1.0 (n3): State transfer from" in line)
    for log in (RECORDED, RECORDED.replace(ended, f"{ended.partition(': ')[0]}: {words}\n{ended}")):
        answer = came(log, donor="n2")
        assert (answer.holds, "write sets 4409 to 5910" in answer.evidence) == (True, True), answer


def test_that_complaints_so_dense_that_they_may_be_one_name_leave_it_to_other_witnesses() -> None:
    words = next(line for line in RECORDED.splitlines() if COMPLAINT in line).partition(": ")[2]
    lines = RECORDED.splitlines()
    dense = [f"{line.partition(': ')[0]}: {words}\n{line}" if "mariadbd[" in line else line for line in lines]
    log = "\n".join(dense) + "\n"
    assert came(log).holds is None
    answer = came(log, born=OLD)
    assert (answer.holds, "no SST replaced them" in answer.evidence) == (True, True), answer


def test_that_statements_that_fail_beside_an_ist_void_it_not() -> None:
    later = FAILED.format(at=f"{BEGAN + 9:.6f}") + "\n"
    forged = (
        OWN.format(at=f"{BEGAN + 9:.6f}", n=9, text=SST[1]) + "\n" + OWN.format(at=f"{BEGAN + 9:.6f}", n=9, text=SST[0])
    )
    answer = came(journal(*IST) + later + forged + "\n")
    assert (answer.holds, "write sets 101 to 140" in answer.evidence) == (True, True), answer


# -- a client's words make nothing -------------------------------------------------------------------------------------

FORGED = tuple(f"2026-11-28 11:47:49 0 [Note] WSREP: {text}" for text in IST)


@pytest.mark.parametrize(
    "opened", [named("x'", *FORGED[2:]), FAILED + "\n" + "\n".join(f"{{at}} n3 mariadbd[9]: {o}" for o in FORGED)]
)
def test_that_the_name_of_a_file_or_a_statement_makes_no_ist_of_an_sst(opened: str) -> None:
    """CREATE TABLE `#mysql50#x'` with line breaks behind it: the first line of the complaint looks whole."""
    apart = OWN.format(at=f"{BEGAN + 5:.6f}", n=5, text="x" * 1200)
    log = journal(*SST) + apart + "\n" + opened.format(at=f"{BEGAN + 6:.6f}") + "\n"
    answer = came(log)
    assert (answer.holds, answer.final, "came by SST" in answer.evidence) == (False, True, True), answer
    alone = came(journal() + apart + "\n" + opened.format(at=f"{BEGAN + 6:.6f}") + "\n", state="1")
    assert alone.holds is not True, alone


def test_that_a_name_which_hides_its_end_is_left_out_to_the_longest_name() -> None:
    blob = named("x'", FORGED[2], FORGED[3]).rpartition("\n")[0] + "\n{at} n3 mariadbd[9]: [40B blob data]"
    text = blob.format(at=f"{BEGAN:.6f}")
    assert not any("Receiving IST" in line or "complete" in line for line in own_lines(text, 100))


def test_that_a_backups_file_names_in_a_journal_are_no_transfer() -> None:
    tool = "{at} n3 -innobackupex-move[70]: 2026-11-28 11:47:4{n} 0 [Note] WSREP: {text}"
    assert came(journal(*IST, by=tool), state="1").holds is False


def test_that_systemds_word_for_a_start_is_never_a_clients() -> None:
    """The lines of an IST of an earlier start: a statement that failed right before must not hide the new start."""
    failed = FAILED.format(at=f"{BEGAN + 5:.6f}") + "\n"
    again = journal(*SST).replace(f"{BEGAN:.6f}", f"{BEGAN + 5:.6f}").replace("mariadbd[9]", "mariadbd[12]")
    answer = came(journal(*IST) + failed + again)
    assert (answer.holds, "came by SST" in answer.evidence) == (False, True), answer


# -- other witnesses ---------------------------------------------------------------------------------------------------

HIDDEN = journal(*IST, between=FAILED)


@pytest.mark.parametrize(
    ("kind", "born", "holds", "said"),
    [
        ("IST", OLD, True, "no SST replaced them"),
        ("IST", NEW, False, "made since its start"),
        ("SST", NEW, True, "made since its start"),
        ("SST", OLD, False, "no SST replaced them"),
        ("IST", "began 1795866456\nborn 0\n", None, "no other source"),
        ("IST", "", None, "no other source"),
    ],
)
def test_that_the_age_of_the_data_tells_how_a_node_came_where_its_log_does_not(
    kind: Literal["IST", "SST"], born: str, holds: bool | None, said: str
) -> None:
    answer = came(HIDDEN, kind=kind, born=born)
    assert (answer.holds, answer.final, said in answer.evidence) == (holds, holds is False, True), answer


def test_that_rsync_keeps_the_file_and_its_age_tells_nothing() -> None:
    assert came(HIDDEN, born=OLD, method="rsync").holds is None


def test_that_the_donors_own_log_tells_how_a_node_came() -> None:
    sent = (IST[1], "async IST sender starting to serve tcp://10.0.0.3:4568 sending 101-140", "IST completed on donor")
    answer = came(HIDDEN, of_donor=journal(*sent).replace("n3 mariadbd", "n2 mariadbd"), donor="n2")
    assert (answer.holds, "the log of n2, its donor" in answer.evidence) == (True, True), answer


def test_that_a_donor_which_no_witness_names_is_not_known_and_never_no() -> None:
    answer = came(HIDDEN, born=OLD, donor="n2")
    assert (answer.holds, answer.final) == (None, False), answer


def test_that_any_transfer_is_as_good_where_any_was_asked_for() -> None:
    answer = came(HIDDEN, kind="any")
    assert (answer.holds, "by IST or by SST" in answer.evidence) == (True, True), answer


def test_that_a_node_that_is_not_synced_yet_is_judged_by_no_witness() -> None:
    assert came(HIDDEN, born=OLD, state="1").holds is None


def test_that_a_log_which_does_not_reach_back_is_no_end_of_it() -> None:
    noise = "\n".join(OWN.format(at=f"{BEGAN + 30:.6f}", n=9, text="x") for _ in range(3)) + "\n"
    assert came(noise, born=OLD).holds is True
    assert came(noise).holds is None
