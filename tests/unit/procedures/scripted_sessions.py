"""Scripted sessions for conditions: what the lab can't hold still long enough, or must not be made to do."""

from __future__ import annotations

from services.clock import ManualClock
from services.connections.ports import ObserverSession, OperatorSession, Output, Rows, Stream
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.registry import command_of, statement_of
from services.errors import QueryFailed, SudoFailed, Unreachable, UserError
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory
from services.procedures.verify.prover import RealProver

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"
UNIT = "mariadb.service"
STARTING = "1795265449.1 n1 systemd[1]: Starting mariadb.service - MariaDB 10.11.18 database server..."
NOTHING = Past({}, {})


class ScriptedSession:
    """Answers each program by its name and each statement by its beginning; an error is raised."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.has_ssh = self.has_sql = True
        self.kind = "mysql"
        self.reached: tuple[str, ...] = ()
        self.state: dict[str, str] | UserError = {}
        self.programs: dict[str, Output | UserError] = {}
        self.rows: dict[str, Rows | UserError] = {}
        self.no_root = False

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        del limit_s
        if isinstance(self.state, UserError):
            raise self.state
        return self.state

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        del limit_s
        sql = statement_of(read)
        for begin, rows in self.rows.items():
            if sql.startswith(begin):
                if isinstance(rows, UserError):
                    raise rows
                return rows
        raise QueryFailed("No such answer.", host=self.host, errno=1)

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        command = command_of(read)
        if command.sudo and self.no_root:
            raise SudoFailed("No sudo.", host=self.host)
        if command.argv[:3] == ("ps", "-p", "1"):
            return Output(0, b"      1     0 systemd\n", b"")  # everybody sees all processes of a scripted host
        if command.argv[0] == "date":
            return self.programs.get("date", Output(0, b"1700000000.5\n", b""))  # type: ignore[return-value]
        found = self.programs.get(command.argv[0], Output(1, b"", b"cat: x: No such file or directory"))
        if isinstance(found, UserError):
            raise found
        if command.argv[:2] == ("ps", "-e"):
            return Output(found.exit_code, b"      1 99999 /sbin/init\n" + found.stdout, found.stderr)
        return found

    def stream(self, read: CommandRead) -> Stream:
        raise NotImplementedError

    def try_now(self) -> None:
        """See ObserverSession."""

    def close(self) -> None:
        """See ObserverSession."""


class ScriptedHosts:
    """Reading roads only."""

    armed: tuple[str, ...] = ()

    def __init__(self, *names: str) -> None:
        self.sessions = {name: ScriptedSession(name) for name in names}

    def observer(self, host: str) -> ObserverSession:
        return self.sessions[host]

    def operator(self, host: str) -> OperatorSession:
        raise AssertionError(host)

    def arm(self, run_id: str, hosts: tuple[str, ...]) -> None:
        raise AssertionError(run_id, hosts)

    def disarm(self) -> None:
        """See Hosts."""

    def close(self) -> None:
        """See Hosts."""


def out(text: str = "", code: int = 0, errors: str = "") -> Output:
    return Output(code, text.encode(), errors.encode())


def status(**more: str) -> dict[str, str]:
    found = {
        "cluster_status": "Primary", "cluster_state_uuid": UUID, "cluster_conf_id": "7", "cluster_size": "2",
        "local_state": "4", "local_state_comment": "Synced", "ready": "ON", "desync_count": "0",
    } | more  # fmt: skip
    return {f"wsrep_{name}": value for name, value in found.items()}


class Attempt:
    """The looks of one attempt: they share a memory."""

    def __init__(self, hosts: ScriptedHosts, clock: ManualClock) -> None:
        self.real = RealProver(hosts, clock)
        self.memory = Memory()

    def look(self, condition: Condition, past: Past) -> Answer:
        return self.real.look(condition, past, self.memory)


def two_members() -> ScriptedHosts:
    """Two Synced members of one cluster."""
    made = ScriptedHosts("n1", "n2")
    for session in made.sessions.values():
        session.state = status()
    return made


def down(session: ScriptedSession, journal: str, active: str, text: str = "") -> None:
    session.state = Unreachable("Port 3306 refused the connection.", host=session.host)
    session.programs = {
        "systemctl": out(f"ActiveState={active}\nSubState=x\nStatusText={text}\nResult=x\n"),
        "journalctl": out(journal),
        "my_print_defaults": out("--datadir=/var/lib/mysql\n"),
        "date": out("1700000000.0"),
    }
