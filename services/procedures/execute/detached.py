"""Long work on a host that goes on without the console: a transient systemd unit, or a session of its own.

With systemd (booted, 236 or newer): `systemd-run --unit=pilothouse-RUN-NAME --remain-after-exit`, so that the result of
work that ended well can be read too (man systemd-run(1): units that ran successfully are otherwise unloaded at once);
StandardOutput=file: (systemd.exec(5), version 236) to a 0600 file; a literal `$` is written `$$` (systemd.service(5),
COMMAND LINES). Elsewhere: setsid(1), with the exit code renamed into place when the work ends.

Unit, output and status are found again by their names. They stay until `remove`: a console that dies before its journal
has the result reads it once more.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from services.connections.command import Command
from services.connections.ports import OperatorSession, Output
from services.errors import BadInput, Unreachable
from services.facts.machine.detached_work import UNIT_PROPERTIES, Found, parse_look, parse_unit
from services.facts.machine.system import systemd_version
from services.i18n import tr

FOLDER = "/run/pilothouse"
_LEAST_SYSTEMD = 236
_LIMIT_S = 20.0
_STOP_S = 120.0  # DefaultTimeoutStopSec is 90 s
_TAIL = 16_384
_WHOLE = 1_000_000

# dash takes a group's number after `--` only with `kill -s`. $1 is the work's folder, the rest its command; mkdir lets
# only one starter through.
_BEGIN = r"""umask 077
mkdir -- "$1" || exit 17
setsid sh -c 'd=$1; shift
trap "" HUP
echo $$ > "$d/pid.new" && mv "$d/pid.new" "$d/pid"
"$@" > "$d/out" 2>&1 < /dev/null
echo $? > "$d/status.new" && mv "$d/status.new" "$d/status"' pilothouse "$@" < /dev/null > /dev/null 2>&1 &
n=0
while [ ! -s "$1/pid" ] && [ $n -lt 50 ]; do sleep 0.1; n=$((n+1)); done
[ -s "$1/pid" ]"""
_LOOK = r"""[ -d "$1" ] || { echo absent; exit 0; }
alive=no
[ -s "$1/pid" ] && kill -s 0 -- "-$(cat "$1/pid")" 2>/dev/null && alive=yes
if [ -s "$1/status" ]; then echo "ended $(cat "$1/status")"
elif [ $alive = yes ]; then echo running; else echo gone; fi"""
_END = r"""[ -s "$1/pid" ] || exit 0
p=$(cat "$1/pid"); kill -s TERM -- "-$p" 2>/dev/null; n=0
while kill -s 0 -- "-$p" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
kill -s KILL -- "-$p" 2>/dev/null; exit 0"""


def work_name(run_id: str, name: str) -> str:
    """Return 'pilothouse-RUN-NAME' as a unit's name takes it (systemd.unit(5): letters, digits, `:-_.`)."""
    return f"pilothouse-{_plain(run_id)}-{_plain(name)}"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text)[:100]


class Work:
    """One piece of detached work on one host. `session` gives the host's session anew, after a drop too."""

    def __init__(self, session: Callable[[], OperatorSession], run_id: str, name: str) -> None:
        self._session = session
        self.name = work_name(run_id, name)
        self._systemd: bool | None = None

    @property
    def unit(self) -> str:
        """Return the unit's name."""
        return f"{self.name}.service"

    @property
    def _out(self) -> str:
        return f"{FOLDER}/{self.name}.out" if self.uses_systemd() else f"{self._folder}/out"

    @property
    def _folder(self) -> str:
        return f"{FOLDER}/{self.name}.work"

    def uses_systemd(self) -> bool:
        """Return whether the host's systemd can carry the work (sd_booted(3), and the version)."""
        if self._systemd is None:
            booted = self._run("test", "-d", "/run/systemd/system", sudo=False).exit_code == 0
            version = systemd_version(self._run("systemctl", "--version", sudo=False).text) if booted else None
            self._systemd = version is not None and version >= _LEAST_SYSTEMD
        return self._systemd

    def look(self) -> Found:
        """Return where the work stands."""
        if not self.uses_systemd():
            return parse_look(self._shell(_LOOK).text)
        shown = self._run("systemctl", "show", f"--property={UNIT_PROPERTIES}", self.unit, sudo=False)
        return parse_unit(shown.text)

    def start(self, command: Command) -> None:
        """Begin the work; no error when it exists already."""
        if command.stdin is not None:
            raise BadInput(
                tr("Detached work cannot receive a secret on its standard input."), host=self._session().host
            )
        argv = self._as_login(command)
        if self.uses_systemd():
            self._run("install", "-D", "-m", "0600", "/dev/null", self._out)
            output = self._run(
                "systemd-run", "--quiet", f"--unit={self.unit}", "--remain-after-exit",
                f"--property=StandardOutput=file:{self._out}", "--property=StandardError=inherit",
                "--setenv=HOME=/root", *(f"--setenv={name}={value}" for name, value in command.environment),
                "--", *(word.replace("$", "$$") for word in argv),
            )  # fmt: skip
        else:
            self._run("install", "-d", "-m", "0755", FOLDER)
            environment = [f"{name}={value}" for name, value in command.environment]
            output = self._shell(_BEGIN, *(["env", *environment] if environment else []), *argv)
        if output.exit_code and self.look().state == "absent":
            why = output.error_text
            raise BadInput(tr("{command} could not be started: {why}", command=command.brief, why=why),
                           host=self._session().host)  # fmt: skip

    def output(self, *, whole: bool = False) -> str:
        """Return the end of what the work has printed (up to 1 MB when `whole`)."""
        read = self._run("tail", "-c", str(_WHOLE if whole else _TAIL), "--", self._out)
        return read.text if read.exit_code == 0 else ""

    def stop(self) -> None:
        """End the work: SIGTERM to all its processes, SIGKILL when they don't mind. Raises when it still runs."""
        if self.uses_systemd():
            self._run("systemctl", "stop", self.unit, limit_s=_STOP_S)
        else:
            self._shell(_END)
        if self.look().state == "running":
            raise Unreachable(tr("{work} could not be ended.", work=self.name), host=self._session().host)

    def remove(self) -> None:
        """Take unit, output and status away; what still runs is left alone. Nothing there is no error."""
        if self.look().state == "running":
            return
        if self.uses_systemd():
            self._run("systemctl", "stop", self.unit)
            self._run("systemctl", "reset-failed", self.unit)
            self._run("rm", "-f", "--", self._out)
        else:
            self._run("rm", "-rf", "--", self._folder)

    def _as_login(self, command: Command) -> tuple[str, ...]:
        """Return the words to run as root; a command that is not for root becomes the login again (man runuser(1))."""
        if command.sudo:
            return command.argv
        login = self._run("id", "-un", sudo=False).text.strip()
        return command.argv if login == "root" else ("runuser", "-u", login, "--", *command.argv)

    def _shell(self, script: str, *words: str) -> Output:
        return self._run("sh", "-c", script, "pilothouse", self._folder, *words)

    def _run(self, *argv: str, sudo: bool = True, limit_s: float = _LIMIT_S) -> Output:
        return self._session().run(Command(argv, sudo=sudo), limit_s=limit_s)
