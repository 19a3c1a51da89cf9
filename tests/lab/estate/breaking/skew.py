"""A host whose clock is wrong.

Linux has no clock of its own per container: CLOCK_REALTIME is the machine's (a time namespace shifts only the
monotonic and boot-time clocks, man time_namespaces(7)). So the
lab lets libfaketime answer for it in what a console can see: every new ssh session and what it runs, sudo included
(/etc/environment, read by pam_env), and the database server after a restart (a drop-in of its unit). Not shifted: sshd
itself (its sandbox kills a preloaded process), sessions that are open already, other services, timestamps of files, the
kernel's own /proc figures, statically linked programs.
"""

from __future__ import annotations

from tests.lab.estate.errors import LabError
from tests.lab.estate.host import container
from tests.lab.estate.servers import database
from tests.lab.estate.spec import EstateSpec

_FIND = "find /usr/lib -name libfaketimeMT.so.1 -print -quit"


def skew(spec: EstateSpec, name: str, seconds: int, *, restart: bool = True) -> None:
    """Shift the host's wall clock by `seconds` (0 undoes it); a running database is restarted to see it."""
    lines: list[str] = []
    if seconds:
        library = container.sh(spec, name, _FIND, limit_s=20).out.strip()
        if not library:
            raise LabError(f"libfaketime is not in the image of {name}")
        lines = [f"LD_PRELOAD={library}", f"FAKETIME={seconds:+d}", "FAKETIME_DONT_FAKE_MONOTONIC=1"]
    _write(spec, name, "/etc/environment", lines)
    drop_in = f"/etc/systemd/system/{database.unit(spec, name)}.service.d/lab-skew.conf"
    _write(spec, name, drop_in, ["[Service]", *(f"Environment={line}" for line in lines)])
    if restart and database.pid(spec, name) is not None:
        database.stop(spec, name)
        database.start(spec, name)


def _write(spec: EstateSpec, name: str, path: str, lines: list[str]) -> None:
    script = f"cat > {path} && systemctl daemon-reload"
    done = container.sh(spec, name, script, stdin="".join(f"{line}\n" for line in lines), limit_s=20)
    if not done.ok:
        raise LabError(f"{name}: {done.err.strip()}")


def offset(spec: EstateSpec, name: str) -> int:
    """Seconds the host's clock is shifted by, 0 when it is not."""
    text = container.sh(spec, name, "sed -n 's/^FAKETIME=//p' /etc/environment", limit_s=10).out.strip()
    return int(text) if text else 0
