"""What a start needs besides its data: room for temporary files, names that resolve; what is said else."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Output, Rows
from services.errors import TimedOut
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue import procedure_named
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.gather.reader import Reader
from services.procedures.plan.checks import Override, standing_blocks
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.looks import Past
from services.procedures.plan.parts.server.starting import Starting, names_in_options, temporary_folders
from services.procedures.plan.remembering import Memory
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, WARN, facts, host
from tests.unit.procedures.facts_of_three import down as down_host
from tests.unit.procedures.host_of import host_of
from tests.unit.procedures.scripted_sessions import (
    NOTHING,
    STARTING,
    UNIT,
    UUID,
    ScriptedHosts,
    ScriptedSession,
    down,
    out,
)

DF = "Filesystem 1-blocks Used Available Capacity Mounted on\ntmpfs 1048576 {used} {free} 50% /tmp\n"
ADDRESS = ("mysqld", "wsrep_cluster_address", "gcomm://db-one.example,db-two.example:4567,10.0.0.1")


def test_that_names_are_asked_and_addresses_are_not() -> None:
    named = host_of("n1", options_given=(ADDRESS, ("mysqld", "wsrep_node_address", "three.example:4567")))
    assert names_in_options(named) == ("db-one.example", "db-two.example", "three.example")
    odd = host_of(
        "n1", options_given=(("mysqld", "wsrep_cluster_address", "gcomm://-x,$(id),::1,AUTO,[fe80::1]:4567"),)
    )
    assert names_in_options(odd) == ()


def test_that_every_folder_of_tmpdir_is_looked_at_beside_tmp() -> None:
    assert temporary_folders(HostFacts("n1")) == ("/tmp",)
    two = host_of("n1", options_given=(("mysqld", "tmpdir", "/var/tmp/:/srv/t"),))
    assert temporary_folders(two) == ("/tmp", "/var/tmp", "/srv/t")


@pytest.mark.parametrize(
    ("answer", "known"),
    [(out("10.0.0.1 STREAM db"), True), (out(code=2), False), (out(code=1), None), (TimedOut("No end."), None)],
)
def test_that_a_name_is_unknown_only_where_the_resolver_says_so(answer: Output | TimedOut, known: bool | None) -> None:
    session = ScriptedSession("n1")
    session.programs = {"getent": answer, "df": out(DF.format(used=0, free=1_048_576))}
    given = (("mysqld", "wsrep_cluster_address", "gcomm://db"),)
    found = Starting.read(host_of("n1", options_given=given), Reader(session, ManualClock()))
    assert found.names == (("db", known),)
    assert found.temporary == (("/tmp", 1_048_576),)


def test_that_a_host_without_room_for_temporary_files_is_not_stopped_or_started() -> None:
    full = facts(host("n2", temporary=(("/tmp", 4096), ("/srv/t", 10**10))))
    one, two, _ = preflight.temporary_space(full, NAMES)
    assert (one.verdict, two.verdict, two.host) == (PASS, BLOCK, "n2")
    assert two.evidence == "0 MB are free at /tmp of n2"
    assert "at least 17 MB" in two.try_[0]
    for unknown in ((), (("/tmp", None),)):
        (check,) = preflight.temporary_space(facts(host("n2", temporary=unknown)), ("n2",))
        assert (check.verdict, "could not be read" in check.evidence) == (WARN, True)


@pytest.mark.parametrize(
    ("names", "verdict", "said"),
    [
        ((), PASS, "only addresses"),
        ((("db-one.example", True), ("db-two.example", True)), PASS, "n1 resolves db-one.example, db-two.example"),
        ((("db-one.example", False), ("db-two.example", True)), WARN, "n1 does not resolve db-one.example"),
        ((("db-one.example", None),), WARN, "the address of db-one.example of n1 could not be read"),
        ((("three.example", False),), BLOCK, "n1 does not resolve its own name three.example"),
    ],
)
def test_that_a_name_nobody_knows_is_told(
    names: tuple[tuple[str, bool | None], ...], verdict: object, said: str
) -> None:
    members = ",".join(name for name, _ in names if name != "three.example") or "10.0.0.1,10.0.0.2"
    given = ("mysqld", "wsrep_cluster_address", f"gcomm://{members}")
    (check,) = preflight.names_known(facts(host("n1", names=names, options_given=(given,))), ("n1",))
    assert (check.verdict, check.code) == (verdict, "NAMES")
    assert said in check.evidence


def test_that_a_name_that_was_not_looked_up_is_not_said_to_lead_to_an_address() -> None:
    (check,) = preflight.names_known(facts(host("n1", names=(), options_given=(ADDRESS,))), ("n1",))
    assert (check.verdict, check.evidence) == (
        WARN,
        "the address of db-one.example, db-two.example of n1 could not be read",
    )


def test_that_a_node_that_knows_none_of_its_members_names_blocks() -> None:
    address = ("mysqld", "wsrep_cluster_address", "gcomm://a.example,b.example")
    lost = host("n1", names=(("a.example", False), ("b.example", False)), options_given=(address,))
    (check,) = preflight.names_known(facts(lost), ("n1",))
    assert check.verdict is BLOCK
    assert "resolves none of the names in wsrep_cluster_address: a.example, b.example" in check.evidence
    (blind,) = preflight.names_known(facts(host("n1", options_given=())), ("n1",))
    assert blind.verdict is WARN


@pytest.mark.parametrize(
    ("state", "shown", "said"),
    [
        ("Tsl", "deactivating", "stopped by a signal: it can end only after kill -CONT 7"),
        ("Dsl", "deactivating", "in an uninterruptible wait, usually for its disk"),
        ("Ssl", "deactivating", "mariadb.service is stopping (stop-sigterm), systemd gives it 15min"),
        ("Ssl", "active", "a server runs on n1 (pid 7)"),
    ],
)
def test_that_a_server_that_does_not_stop_says_what_holds_it(state: str, shown: str, said: str) -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].programs = {
        "ps": out(f"  7 {state} mariadbd\n"),
        "systemctl": out(f"ActiveState={shown}\nSubState=stop-sigterm\nTimeoutStopUSec=15min\n"),
    }
    answer = RealProver(hosts, ManualClock()).look(Stopped("n1", UNIT), NOTHING)
    assert (answer.holds, said in answer.evidence) == (False, True)
    assert ("stopping" in answer.evidence) is (shown == "deactivating")


def test_that_a_server_that_has_not_heeded_sigterm_for_a_minute_is_told_with_what_ends_it() -> None:
    hosts, clock = ScriptedHosts("n1"), ManualClock()
    prover, memory = RealProver(hosts, clock), Memory()
    stopping = out("ActiveState=deactivating\nSubState=stop-sigterm\nTimeoutStopUSec=15min\n")
    hosts.sessions["n1"].programs = {"ps": out("  7 Ssl mariadbd\n"), "systemctl": stopping}
    said = []
    for _ in range(15):
        said.append(prover.look(Stopped("n1", UNIT), NOTHING, memory).evidence)
        clock.advance(5.0)
    told = [n for n, evidence in enumerate(said) if "systemctl kill --signal=KILL mariadb.service" in evidence]
    assert told == [12, 13, 14]


def test_that_a_transfer_that_never_begins_asks_for_the_port_and_a_broken_one_names_it() -> None:
    hosts, clock = ScriptedHosts("n1", "n2", "n3"), ManualClock()
    prover, memory = RealProver(hosts, clock), Memory()
    joiner = host_of("n3", address="10.0.0.3", options_given=(("mysqld", "wsrep_node_address", "10.9.0.3:4567"),))
    prover.facts = facts(joiner, members=("n1", "n2"))
    down(hosts.sessions["n3"], f"{STARTING}\n", "activating", "WSREP state transfer (role joiner) ongoing...")
    said = []
    for _ in range(15):
        said.append(prover.look(Joined("n3", UUID, UNIT), NOTHING, memory).evidence)
        clock.advance(2)
    assert "no data has arrived" not in said[9]
    assert "no data has arrived for 28 s: is port 4444 of n3 open for its donor?" in said[-1]
    down(hosts.sessions["n3"], f"{STARTING}\n", "activating", "Receiving IST... 0% (0/22 events) complete.")
    for _ in range(15):
        said.append(prover.look(Joined("n3", UUID, UNIT), NOTHING, memory).evidence)
        clock.advance(2)
    assert "IST: 0 of 22 write sets; no data has arrived for 28 s: is port 4568 of n3 open" in said[-1]
    broken = "1795265450.2 n3 mariadbd[9]: 2026 [ERROR] WSREP: Will never receive state. Need to abort."
    down(hosts.sessions["n3"], f"{STARTING}\n{broken}\n", "failed")
    hosts.sessions["n1"].programs = {"timeout": out(code=124)}
    hosts.sessions["n2"].programs = {"timeout": out(code=1, errors="bash: connect: Connection refused")}
    answer = prover.look(Joined("n3", UUID, UNIT), NOTHING, memory)
    assert answer.final
    assert "Will never receive state" in answer.evidence
    assert "now that it is down, n1 gets no answer at port 4444 of n3 (no answer within 3 s)" in answer.evidence
    assert "n2 gets" not in answer.evidence


def test_that_a_transfer_that_its_donor_ended_is_told_with_what_the_donors_server_says_of_it() -> None:
    hosts = ScriptedHosts("n1", "n2", "n3")
    prover = RealProver(hosts, ManualClock(1_795_265_470.0), facts())
    chosen = "Member 0.0 (n3) requested state transfer from 'n2,'. Selected 2.0 (n2)(SYNCED) as donor."
    never = "[ERROR] WSREP: gcs_group.cpp:1225: Will never receive state. Need to abort."
    refused = "Access denied for user 'transfer'@'localhost'"
    script = "[ERROR] WSREP: Process completed with error: wsrep_sst_mariabackup --role 'donor' --address 'x': 22"

    def at(second: int, who: str, text: str) -> str:
        return f"17952654{second}.2 {who} mariadbd[9]: 2026-11-22 14:32:{second - 10} 0 {text}"

    def looked(*donor: str) -> str:
        hosts.sessions["n2"].programs = {"timeout": out("\n".join((at(50, "n2", f"[Note] WSREP: {chosen}"), *donor)))}
        answer = prover.look(Joined("n3", UUID, UNIT), NOTHING, Memory())
        assert answer.final
        return answer.evidence

    joiner = (STARTING, at(50, "n3", f"[Note] WSREP: {chosen}"), at(64, "n3", never))
    down(hosts.sessions["n3"], "\n".join(joiner), "failed")
    hosts.sessions["n3"].programs["date"] = out("1795265470.0")
    login, failed = at(64, "n2", f"[Warning] {refused} (using password: YES)"), at(64, "n2", script)
    said = "Need to abort.; on its donor n2 wsrep_sst_mariabackup failed"
    assert f"{said}, and its server refused a login meanwhile: {refused} (wsrep_sst_auth?)" in looked(login, failed)
    full = "mariadb-backup: Error writing file 'UNOPENED' (errno: 28 \"No space left on device\")"
    assert f"{said}: " in looked(at(63, "n2", full), failed)
    assert f"{said}: its log says more" in looked(failed)
    assert "donor" not in looked(login)


def test_that_a_transfer_of_an_earlier_start_is_no_proof_though_the_hosts_clock_was_ahead_then() -> None:
    hosts, began = ScriptedHosts("n1"), 1_795_265_440.0
    chosen = "Member 1.0 (n1) requested state transfer from 'n2'. Selected 0.0 (n2)(SYNCED) as donor."
    before = (chosen, "Receiving IST: 30 writesets, seqnos 11-40", "Member 1.0 (n1) synced with group.")
    lines = [f"{began + 200 + i} n1 mariadbd[5]: 2026-11-22 6:00:00 0 [Note] WSREP: {t}" for i, t in enumerate(before)]
    lines += [STARTING, f"{began + 12} n1 mariadbd[9]: 2026-11-22 6:00:00 0 [Note] WSREP: Shifting PRIMARY -> JOINED"]
    hosts.sessions["n1"].programs = {
        "journalctl": out("\n".join(lines)),
        "date": out(f"{began + 20}"),
        "my_print_defaults": out("--datadir=/var/lib/mysql\n"),
    }
    hosts.sessions["n1"].rows = {"SHOW": Rows(("Variable_name", "Value"), (("wsrep_node_name", "n1"),))}
    look = TransferWas("n1", "any", "", "start")
    answer = RealProver(hosts, ManualClock(began + 20)).look(look, Past({}, {"start": began}))
    assert (answer.holds, answer.evidence) == (True, "n1 needed no transfer: it had missed nothing")


@pytest.mark.parametrize("put_back_s", [0.0, 3_600.0])
def test_that_a_clock_that_was_put_back_does_not_hide_the_transfer_of_the_newest_start(put_back_s: float) -> None:
    hosts, clock = ScriptedHosts("n1"), ManualClock(1_795_265_440.0)
    began = clock.wall()
    said = (
        "Member 1.0 (n1) requested state transfer from 'n2'. Selected 0.0 (n2)(SYNCED) as donor.",
        "Receiving IST: 30 writesets, seqnos 11-40",
        "mariabackup IST completed on joiner",
        "Member 1.0 (n1) synced with group.",
    )
    lines = [f"{began + 12 + i} n1 mariadbd[9]: 2026-11-22 6:00:00 0 [Note] WSREP: {t}" for i, t in enumerate(said)]
    hosts.sessions["n1"].programs = {
        "journalctl": out("\n".join((STARTING, *lines))),
        "date": out(f"{began + 20}"),
        "my_print_defaults": out("--datadir=/var/lib/mysql\n"),
    }
    hosts.sessions["n1"].rows = {"SHOW": Rows(("Variable_name", "Value"), (("wsrep_node_name", "n1"),))}
    now = ManualClock(began + 20 - put_back_s)
    past = Past({}, {"start": began})
    answer = RealProver(hosts, now).look(TransferWas("n1", "IST", "", "start"), past)
    assert (answer.holds, answer.evidence) == (True, "n1 came by IST from n2, write sets 11 to 40")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((("mysqld", "innodb_force_recovery", "1"),), "innodb_force_recovery = 1 in the option files of n1"),
        ((("mysqld", "innodb_force_recovery", ""),), "innodb_force_recovery = ON in the option files of n1"),
        ((("mysqld", "innodb_read_only", ""),), "innodb_read_only = ON in the option files of n1"),
    ],
)
def test_that_no_server_is_started_or_asked_for_its_position_while_its_files_force_innodbs_recovery(
    options: tuple[tuple[str, str, str], ...], told: str
) -> None:
    (check,) = preflight.innodb_as_usual(facts(down_host("n1", options_given=options)), ("n1",))
    assert (check.verdict, check.absolute, check.evidence) == (BLOCK, True, told)
    assert standing_blocks((check,), (Override("FORCED-RECOVERY", "I know"),)) == (check,)


def test_that_a_whole_innodb_passes_one_that_runs_so_blocks_and_files_that_were_not_read_are_not_known() -> None:
    usual = (("mysqld", "innodb_force_recovery", "0"), ("mysqld", "innodb_read_only", "OFF"))
    (check,) = preflight.innodb_as_usual(facts(host("n1", options_given=usual)), ("n1",))
    assert check.verdict is PASS
    running = host(
        "n1", options_given=usual, variables_values=(("innodb_force_recovery", "3"), ("innodb_read_only", "OFF"))
    )
    (check,) = preflight.innodb_as_usual(facts(running), ("n1",))
    assert (check.verdict, "= 3 on the running server of n1" in check.evidence) == (BLOCK, True)
    (check,) = preflight.innodb_as_usual(facts(host("n1", options_given=())), ("n1",))
    assert (check.verdict, check.absolute, "the InnoDB options" in check.evidence) == (WARN, False, True)


@pytest.mark.parametrize("name", ["bootstrap-after-crash", "add-node", "rolling-restart", "freeze-gcache"])
def test_that_every_procedure_that_starts_a_server_asks_how_its_innodb_starts(name: str) -> None:
    left = (("mysqld", "innodb_force_recovery", "6"),)
    crash = name == "bootstrap-after-crash"
    stopped = NAMES if crash else ("n3",) if name == "add-node" else ()
    three = facts(*((down_host if n in stopped else host)(n, options_given=left) for n in NAMES))
    inputs = {"add-node": {"joiner": "n3"}, "rolling-restart": {"nodes": "n3"}, "freeze-gcache": {"node": "n3"}}
    checks = procedure_named(name).preflight(three, inputs.get(name, {}))
    found = {check.host: check.verdict for check in checks if check.code == "FORCED-RECOVERY"}
    assert found == dict.fromkeys(NAMES if crash else ("n3",), BLOCK)
