"""The database server of a host: statements by its own socket, start and stop with time limits, its state."""

from __future__ import annotations

import re
import time

from tests.lab.estate.errors import LabError, LabTimeoutError
from tests.lab.estate.host import container
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until

DATADIR = "/var/lib/mysql"


def sql(spec: EstateSpec, name: str, statement: str, *, limit_s: float = 30.0) -> list[list[str]]:
    """Run statements as root over the host's Unix socket; rows of strings, NULL as the word NULL, no header.

    The statement travels by standard input, so that a password in it stands on no command line.
    """
    return [line.split("\t") for line in _ask(spec, name, "--skip-column-names", statement, limit_s).splitlines()]


def record(spec: EstateSpec, name: str, statement: str, *, limit_s: float = 15.0) -> dict[str, str]:
    """The row a statement gives as column -> value; empty when it gives none."""
    lines = _ask(spec, name, "--vertical", statement, limit_s).splitlines()
    return {key.strip(): value for key, colon, value in (line.partition(": ") for line in lines) if colon}


def _ask(spec: EstateSpec, name: str, option: str, statement: str, limit_s: float) -> str:
    done = container.sh(
        spec, name, f"exec {spec.host(name).engine.client} --batch {option}", stdin=statement, limit_s=limit_s
    )
    if not done.ok:
        raise LabError(f"{name}: {done.err.strip() or done.out.strip()}")
    return done.out


def process(spec: EstateSpec, name: str) -> str:
    """Words by which pgrep and pkill find the server proper, never the SST scripts and backup programs beside it."""
    return f"-x -u mysql {spec.host(name).engine.process}"


def unit(spec: EstateSpec, name: str) -> str:
    return spec.host(name).engine.unit


def pid(spec: EstateSpec, name: str) -> int | None:
    """Pid of the server inside the host, or None when it does not run."""
    found = container.sh(spec, name, f"pgrep {process(spec, name)}", limit_s=15).out.split()
    return int(found[0]) if found else None


def paused(spec: EstateSpec, name: str) -> bool:
    """Whether the server is stopped by a signal (state T in man proc_pid_stat(5))."""
    asking = f"ps -o stat= -p $(pgrep {process(spec, name)}) | grep -q '^T'"
    return container.sh(spec, name, asking, limit_s=15).ok


def start(spec: EstateSpec, name: str, *, limit_s: float = 120.0) -> None:
    """Start the service and wait until systemd calls it active; a failed start shows the end of its journal."""
    begin_start(spec, name)
    wait_active(spec, name, limit_s=limit_s)


def begin_start(spec: EstateSpec, name: str, *, first: bool = False) -> None:
    """Ask for the start without waiting; `first` forms a new cluster (galera_new_cluster of the package).

    galera_new_cluster itself waits for the server, bounded here by two minutes.
    """
    container.sh(spec, name, f"systemctl reset-failed {unit(spec, name)}", limit_s=20)
    if first:
        done = container.sh(spec, name, "galera_new_cluster", limit_s=120)
    else:
        done = container.sh(spec, name, f"systemctl start --no-block {unit(spec, name)}", limit_s=20)
    if not done.ok:
        raise LabError(f"{name}: {done.err.strip()}; {journal(spec, name)}")


def wait_active(spec: EstateSpec, name: str, *, limit_s: float) -> None:
    """Wait until systemd says the service is active; LabError as soon as it says failed."""

    service = unit(spec, name)

    def reason() -> str | None:
        state = container.sh(spec, name, f"systemctl is-active {service}", limit_s=20).out.strip()
        if state == "failed":
            raise LabError(f"{service} on {name} failed to start: {journal(spec, name)}")
        return None if state == "active" else f"{service} on {name} is {state}"

    wait_until(f"{service} on {name}", reason, limit_s=limit_s)


def journal(spec: EstateSpec, name: str, lines: int = 12) -> str:
    """End of the service's journal on the host, one line."""
    out = container.sh(spec, name, f"journalctl -u {unit(spec, name)} -n {lines} -o cat --no-pager", limit_s=20).out
    return " | ".join(out.splitlines())


def stop(spec: EstateSpec, name: str, *, limit_s: float = 60.0) -> bool:
    """Stop the server cleanly; after `limit_s` seconds it is killed. Returns whether the stop was clean.

    A Galera node that waits for its peers would let systemd wait for 15 minutes (the unit's TimeoutStopSec).
    """
    service = unit(spec, name)
    container.sh(spec, name, f"systemctl stop --no-block {service}", limit_s=20)

    def reason() -> str | None:
        if pid(spec, name) is not None:
            return f"the server on {name} still runs"
        state = container.sh(spec, name, f"systemctl is-active {service}", limit_s=20).out.strip()
        return None if state in ("inactive", "failed") else f"{service} on {name} is {state}"

    try:
        wait_until(f"the stop of {service} on {name}", reason, limit_s=limit_s)
    except LabTimeoutError:
        kill(spec, name)
        return False
    return True


def kill(spec: EstateSpec, name: str, *, limit_s: float = 30.0) -> None:
    """SIGKILL to the server (and to nothing else), then wait until it is gone and systemd has noticed.

    The signal is sent again while one is there: in a service that just starts, what dies first may be the run of
    galera_recovery, which is called mariadbd too, and the server itself follows it.
    """
    deadline = time.monotonic() + limit_s
    while pid(spec, name) is not None:
        if time.monotonic() > deadline:
            raise LabTimeoutError(f"the server on {name} is still there {limit_s:g} s after SIGKILL")
        container.sh(spec, name, f"pkill -KILL {process(spec, name)}", limit_s=15)
        time.sleep(0.2)
    service = unit(spec, name)
    container.sh(spec, name, f"systemctl stop --no-block {service}; systemctl reset-failed {service}", limit_s=20)


def version(spec: EstateSpec, name: str) -> str:
    """Version number of the installed server ("10.11.14"), also while it does not run."""
    said = container.sh(spec, name, f"{spec.host(name).engine.process} --version", limit_s=15).out
    found = re.search(r"[Vv]er(?:sion)? v?(\d+\.\d+\.\d+)", said)
    return found.group(1) if found else ""
