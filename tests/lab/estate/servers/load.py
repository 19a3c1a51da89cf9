"""Load by sysbench from the machine against hosts of an estate: bounded in time and rate, one run per estate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.estate import vault
from tests.lab.estate.errors import LabError
from tests.lab.estate.host import proc
from tests.lab.estate.paths import private_dir, state_root
from tests.lab.estate.servers import database, galera, group, replication
from tests.lab.estate.shell import run, spawn
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until

KINDS: tuple[str, ...] = ("oltp_read_write", "oltp_write_only", "oltp_read_only")
LONGEST_S = 4 * 3600


@dataclass(frozen=True, slots=True)
class Load:
    """What to run: `rate` is transactions per second over all hosts together (0: as many as it can)."""

    kind: str = "oltp_read_write"
    seconds: int = 60
    rate: int = 50
    threads: int = 4
    tables: int = 4
    rows: int = 10_000


def _folder(spec: EstateSpec) -> Path:
    return state_root() / spec.name / "load"


def start(spec: EstateSpec, load: Load, hosts: Sequence[str] = ()) -> int:
    """Start sysbench against `hosts` (default: the first member or the source); returns its pid.

    It ends by itself after `load.seconds`; errors of servers that go away are borne, and it reconnects.
    The tables are made first if they are not there.
    """
    if load.kind not in KINDS:
        raise LabError(f"no load {load.kind!r}; there are {', '.join(KINDS)}")
    if not 0 < load.seconds <= LONGEST_S:
        raise LabError(f"a load lasts between 1 and {LONGEST_S} seconds")
    if running(spec) is not None:
        raise LabError(f"a load runs already against {spec.name}; stop it first")
    targets = tuple(spec.host(h).name for h in hosts) or _default(spec)
    options = _options(spec, load, targets)
    settings = private_dir(_folder(spec)) / "sysbench.cnf"
    settings.touch(mode=0o600)
    settings.write_text(options, encoding="utf-8")
    _prepare(spec, load, targets[0], settings)
    log = _folder(spec) / "sysbench.log"
    log.unlink(missing_ok=True)
    spawn(["sysbench", f"--config-file={settings}", load.kind, "run"], log)

    def reason() -> str | None:
        return None if running(spec) is not None else f"no sysbench process; it said {log.read_text()[-300:]!r}"

    wait_until("sysbench", reason, limit_s=10, every_s=0.05)
    pid = running(spec)
    if pid is None:
        raise LabError(f"sysbench has ended at once: {log.read_text(encoding='utf-8')[-300:]}")
    return pid


def _default(spec: EstateSpec) -> tuple[str, ...]:
    return (galera.members(spec) or group.members(spec) or (replication.source(spec),))[:1]


def _options(spec: EstateSpec, load: Load, targets: Sequence[str]) -> str:
    """sysbench's option file (sysbench --config-file): the password is in it and not on the command line."""
    pairs = {
        "db-driver": "mysql",
        "mysql-host": ",".join(spec.address(t) for t in targets),
        "mysql-user": "sysbench",
        "mysql-password": vault.load()["sysbench"],
        "mysql-db": "sbtest",
        "mysql-ignore-errors": "all",
        "tables": load.tables,
        "table-size": load.rows,
        "threads": load.threads,
        "time": load.seconds,
        "events": 0,
        "rate": load.rate,
        "report-interval": 1,
    }
    return "".join(f"{key}={value}\n" for key, value in pairs.items())


def _prepare(spec: EstateSpec, load: Load, target: str, settings: Path) -> None:
    wanted = [f"sbtest{i}" for i in range(1, load.tables + 1)]
    there = {row[0] for row in database.sql(spec, target, "SHOW TABLES FROM sbtest")}
    if set(wanted) <= there:
        return
    drop = ", ".join(f"sbtest.{t}" for t in wanted)
    database.sql(spec, target, f"DROP TABLE IF EXISTS {drop}")
    run(["sysbench", f"--config-file={settings}", load.kind, "prepare"], limit_s=300)


def running(spec: EstateSpec) -> int | None:
    """Pid of the estate's load, None when none runs."""
    for pid, argv in proc.processes():
        if (
            Path(argv[0]).name == "sysbench"
            and f"--config-file={_folder(spec) / 'sysbench.cnf'}" in argv
            and proc.alive(pid)
        ):
            return pid
    return None


def stop(spec: EstateSpec) -> bool:
    """End the load before its time; whether there was one."""
    pid = running(spec)
    if pid is None:
        return False
    proc.end(pid, limit_s=5)
    return True


def last_report(spec: EstateSpec) -> str:
    """Last line sysbench wrote: transactions per second, latency, errors."""
    log = _folder(spec) / "sysbench.log"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return next((line for line in reversed(lines) if " tps: " in line), "")
