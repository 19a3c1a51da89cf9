"""Two servers on one real host in one plan: each statement reaches its own, files and the lock are the host's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from services.connections.sql.statement import set_global
from services.inventory.model import Instance, Inventory, SqlAccess
from services.procedures.conditions.machine.files import FileAbsent, FileSays
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.engine.engine import Engine
from services.procedures.engine.lock import ClusterLock, lock_path
from services.procedures.engine.parts import Parts, Policy
from services.procedures.engine.rehearsal import rehearse
from services.procedures.execute.acting import RealActor
from services.procedures.execute.live_hosts import LiveHosts
from services.procedures.journal.entries import approved, planned
from services.procedures.plan.actions import PutFile, RestoreFile, Sql
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan, Step, Undo
from services.procedures.plan.run_model import RunState
from services.procedures.verify.prover import RealProver
from tests.faults.scripted.running import DyingJournal, Killed, Somebody, WaitingClock
from tests.lab.connections.connecting import LIMITS, PILOT, vault
from tests.lab.estate.estate import Estate
from tests.lab.operator.operating import CLOCK, operated

HOST, PORT = "s1", 3307
SECOND = f"{HOST}:{PORT}"
KEYS = (HOST, SECOND, "s2")
CLUSTER = "two-servers-on-one-host"
NOTE = "/etc/mysql/mariadb.conf.d/98-note.cnf"
FOLDER, SOCKET, UNIT = "/var/lib/mysql-second", "/run/mysqld/second.sock", "second-server"
CEILING = 177


@pytest.fixture
def estate(steer: Estate) -> Iterator[Estate]:
    """The estate with a second, plain server on s1, which is gone afterwards with all that it left."""
    password = steer.environment()[PILOT.name]
    host = steer.host(HOST)
    host.sh(
        f"mariadb-install-db --no-defaults --user=mysql --datadir={FOLDER} --skip-test-db >/dev/null && "
        f"systemd-run --quiet --unit={UNIT} /usr/sbin/mariadbd --no-defaults --user=mysql --datadir={FOLDER} "
        f"--port={PORT} --socket={SOCKET} --pid-file=/run/mysqld/second.pid --innodb-buffer-pool-size=16M && "
        f"until mariadb --no-defaults -S {SOCKET} -e 'SELECT 1' >/dev/null 2>&1; do sleep 0.2; done"
    )
    grant = f"CREATE USER archive@localhost IDENTIFIED BY '{password}'; GRANT ALL ON *.* TO archive@localhost;"
    host.sh(f'mariadb --no-defaults -S {SOCKET} -e "{grant} {grant.replace("localhost", "127.0.0.1")}"')
    try:
        yield steer
    finally:
        host.sh(f"systemctl stop {UNIT}; rm -rf {FOLDER} {SOCKET} /run/pilothouse")


def _inventory(estate: Estate) -> Inventory:
    second = SqlAccess("archive", PILOT, port=PORT, via="tunnel", tls="off")
    first = replace(operated(estate, HOST), beside=(Instance(HOST, "mysql", PORT, second),))
    return Inventory(hosts=(first, operated(estate, "s2")))


def _now(estate: Estate) -> tuple[str, ...]:
    """The settings as the servers themselves say them, asked beside the console's roads."""
    ask = "-Ne 'SELECT @@GLOBAL.max_connections'"
    return (
        estate.host(HOST).sh(f"mariadb {ask}").out.strip(),
        estate.host(HOST).sh(f"mariadb --no-defaults -S {SOCKET} {ask}").out.strip(),
        estate.host("s2").sh(f"mariadb {ask}").out.strip(),
    )


def _plan(before: tuple[str, ...]) -> Plan:
    noted = Step(
        "note", SECOND, "Leave a note", PutFile(NOTE, ("[pilothouse-note]\nby = a test\n",)),
        proof=(FileSays(SECOND, NOTE, r"^by = a test$"),),
        undo=Undo("Take it away", RestoreFile(NOTE), (FileAbsent(SECOND, NOTE),)), repeatable=True,
    )  # fmt: skip
    raised = tuple(
        Step(
            f"raise-{key}", key, f"Raise the ceiling of {key}", Sql(set_global("max_connections", CEILING + at)),
            proof=(VariableIs(key, "max_connections", str(CEILING + at)),),
            undo=Undo("Lower it", Sql(set_global("max_connections", int(before[at]))),
                      (VariableIs(key, "max_connections", before[at]),)),
            repeatable=True, moves=key, settles=(key,),
        )
        for at, key in enumerate(KEYS)
    )  # fmt: skip
    return Plan("toy", "Raise", "x", CLUSTER, "two", KEYS, (KEYS,), (), (noted, *raised), on=((SECOND, HOST),))


def _engine(hosts: LiveHosts, journal: DyingJournal, run_id: str) -> Engine:
    actor = RealActor(hosts, run_id, CLOCK)
    lock = ClusterLock(hosts, run_id, "ann@desk", CLOCK)
    parts = Parts(journal, hosts, actor, RealProver(hosts, CLOCK), CLOCK, Somebody(), lock=lock, cleanup=actor.cleanup,
                  policy=Policy("undo", unattended=True, by="ann"))  # fmt: skip
    return Engine(parts, run_id)


def _locked(estate: Estate) -> list[bool]:
    path = lock_path(CLUSTER)
    return [estate.host(name).sh(f"test -e {path}", check=False).code == 0 for name in (HOST, "s2")]


def test_that_two_servers_of_one_real_host_are_each_reached_killed_resumed_and_taken_back(estate: Estate) -> None:
    inventory, before = _inventory(estate), _now(estate)
    plan = _plan(before)
    assert violations(plan, begun=True) == ()
    journal = DyingJournal(WaitingClock())
    run_id = journal.new_run(plan.procedure, plan.cluster_id, plan.title)
    journal.append(run_id, *planned(plan, {}, (), (), "ann@desk"))
    journal.append(run_id, *approved("ann"))
    hosts = LiveHosts(inventory.entry, vault(estate), CLOCK, limits=LIMITS)
    try:
        rehearsal = rehearse(plan, RealProver(hosts, CLOCK))
        assert [step.would for step in rehearsal.steps] == ["act"] * 4
        assert _now(estate) == before
        journal.dies_at = 16
        with pytest.raises(Killed):
            _engine(hosts, journal, run_id).run()
        journal.dies_at = 0
        assert _locked(estate) == [True, True]
        assert _engine(hosts, journal, run_id).run() is RunState.DONE
        assert _now(estate) == tuple(str(CEILING + at) for at in range(3))
        assert estate.host(HOST).sh(f"grep -c 'a test' {NOTE}").out.strip() == "1"
        assert _locked(estate) == [False, False]
        told = [(one.data or {})["hosts"] for one in journal.entries(run_id) if one.kind == "lock"]
        assert told
        assert all(names == [HOST, "s2"] for names in told)

        again = journal.new_run(plan.procedure, plan.cluster_id, plan.title)
        estate.host(HOST).sh(f"rm {NOTE}; mariadb -e 'SET GLOBAL max_connections={before[0]}'")
        journal.append(again, *planned(plan, {}, (), (), "ann@desk"))
        journal.append(again, *approved("ann"))
        journal.dies_at = 16
        with pytest.raises(Killed):
            _engine(hosts, journal, again).run()
        journal.dies_at = 0
        assert _engine(hosts, journal, again).undo() is RunState.UNDONE
        assert _now(estate)[0] == before[0]
        assert estate.host(HOST).sh(f"test -e {NOTE}", check=False).code != 0
        assert _locked(estate) == [False, False]
    finally:
        hosts.close()
        estate.host(HOST).sh(f"rm -f {NOTE} {NOTE}.pilothouse-*; mariadb -e 'SET GLOBAL max_connections={before[0]}'")
        estate.host("s2").sh(f"mariadb -e 'SET GLOBAL max_connections={before[2]}'")
