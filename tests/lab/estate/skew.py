"""A host whose clock is wrong.

Linux has no clock of its own per container: CLOCK_REALTIME is the machine's (a time namespace shifts only the monotonic
and boot-time clocks, man time_namespaces(7)). So the lab lets libfaketime answer for it, for every program the host
starts from then on (/etc/ld.so.preload): ssh sessions, `date`, sudo, and the database server after a restart.
Not shifted: what runs already, timestamps of files, the kernel's own /proc figures, statically linked programs.
"""

from __future__ import annotations

from tests.lab.estate import container, database
from tests.lab.estate.errors import LabError
from tests.lab.estate.spec import EstateSpec

_FIND = "find /usr/lib -name libfaketimeMT.so.1 -print -quit"
_DROP_IN = "/etc/systemd/system/mariadb.service.d/lab-skew.conf"
_UNSKEW = f"rm -f /etc/ld.so.preload /etc/faketimerc {_DROP_IN}; systemctl daemon-reload"


def skew(spec: EstateSpec, name: str, seconds: int, *, restart: bool = True) -> None:
    """Shift the host's wall clock by `seconds` (0 undoes it); a running database is restarted to see it."""
    if seconds:
        library = container.sh(spec, name, _FIND, limit_s=20).out.strip()
        if not library:
            raise LabError(f"libfaketime is not in the image of {name}")
        script = (
            f"mkdir -p $(dirname {_DROP_IN}) && printf '[Service]\\nEnvironment=FAKETIME_DONT_FAKE_MONOTONIC=1\\n' > {_DROP_IN}"
            f" && printf '%+d\\n' {seconds} > /etc/faketimerc && systemctl daemon-reload"
            f" && printf '%s\\n' {library} > /etc/ld.so.preload"
        )
    else:
        script = _UNSKEW
    done = container.sh(spec, name, script, limit_s=20)
    if not done.ok:
        raise LabError(f"{name}: {done.err.strip()}")
    if restart and database.pid(spec, name) is not None:
        database.stop(spec, name)
        database.start(spec, name)


def offset(spec: EstateSpec, name: str) -> int:
    """Seconds the host's clock is shifted by, 0 when it is not."""
    text = container.sh(spec, name, "cat /etc/faketimerc 2>/dev/null", limit_s=10).out.strip()
    return int(text) if text else 0
