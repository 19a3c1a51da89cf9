"""The peer of budgets 7 and 8: dolphie from PyPI in an environment of its own, in a terminal of tmux's or as a daemon.

It is installed once into the user's cache folder, never into the project's environment; PILOTHOUSE_BENCH_DOLPHIE names
an installed one instead. It gets a home of its own, and no address to ask for newer versions at.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from tests.bench.support.unavailable import Unavailable

VERSION = "6.18.0"
COLUMNS, LINES = 200, 55
_NO_NEWS = ("--pypi-repo", "http://127.0.0.1:9/none")


def executable() -> Path:
    """Return dolphie's command, installing it at the first use."""
    given = os.environ.get("PILOTHOUSE_BENCH_DOLPHIE")
    if given:
        return Path(given)
    folder = Path(platformdirs.user_cache_dir("pilothouse", appauthor=False)) / f"bench-dolphie-{VERSION}"
    command = folder / "bin" / "dolphie"
    if not command.exists():
        shutil.rmtree(folder, ignore_errors=True)  # an installation that broke off
        _call(sys.executable, "-m", "venv", str(folder))
        _call(str(folder / "bin" / "pip"), "install", "--quiet", f"dolphie=={VERSION}")
    if not command.exists():
        raise Unavailable("dolphie's package has no command")
    return command


def _call(*command: str) -> None:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Unavailable(f"dolphie {VERSION} cannot be installed: {problem}") from problem
    if ended.returncode:
        raise Unavailable(f"dolphie {VERSION} cannot be installed: {ended.stderr.strip()[-200:]}")


def arguments(port: int) -> list[str]:
    """Return what both ways of running it share: the private server, one poll a second."""
    return ["-u", "bench", "-p", "", "-h", "127.0.0.1", "-P", str(port), "-r", "1", *_NO_NEWS]


class Terminal:
    """dolphie in a detached terminal. Attributes: pid; first_data_s: from its start to its first figures."""

    def __init__(self, tmux: list[str], pid: int, first_data_s: float) -> None:
        self._tmux = tmux
        self.pid = pid
        self.first_data_s = first_data_s

    def screen(self) -> str:
        """Return what stands on the screen."""
        return _told(self._tmux, "capture-pane", "-p")


@contextlib.contextmanager
def terminal(folder: Path, port: int, *, panels: str) -> Iterator[Terminal]:
    """Run dolphie in a tmux of its own until the block ends; give it when its first figures are there."""
    if shutil.which("tmux") is None:
        raise Unavailable("tmux is not installed on this machine")
    command = executable()
    home = folder / "dolphie-home"
    home.mkdir(exist_ok=True)
    # A socket of its own each time: the server of the last one may still be on its way out.
    tmux = ["tmux", "-f", "/dev/null", "-S", str(folder / f"tmux-{time.monotonic_ns()}")]
    inner = ["exec", "env", f"HOME={home}", "TERM=screen-256color", str(command), *arguments(port), "--panels", panels]
    line = " ".join(part or "''" for part in inner)
    size = ["-x", str(COLUMNS), "-y", str(LINES)]
    _told(tmux, "new-session", "-d", *size, "sleep 600")  # the terminal's own start is not dolphie's
    try:
        began = time.monotonic()
        _told(tmux, "respawn-pane", "-k", line)
        pid = int(_told(tmux, "display-message", "-p", "#{pane_pid}"))
        _await_figures(tmux, began)
        yield Terminal(tmux, pid, time.monotonic() - began)
    finally:
        subprocess.run([*tmux, "kill-server"], capture_output=True, timeout=10, check=False)


def _await_figures(tmux: list[str], began: float) -> None:
    screen = ""
    while time.monotonic() - began < 20:
        screen = _told(tmux, "capture-pane", "-p")
        if "Host Information" in screen and "Queries" in screen:
            return
        time.sleep(0.02)
    raise Unavailable(f"dolphie showed no figures: {' '.join(screen.split())[:200]}")


def _told(tmux: list[str], *command: str) -> str:
    ended = subprocess.run([*tmux, *command], capture_output=True, text=True, timeout=10, check=False)
    if ended.returncode:
        raise Unavailable(f"tmux: {ended.stderr.strip()}")
    return ended.stdout


@contextlib.contextmanager
def daemon(folder: Path, port: int) -> Iterator[tuple[int, Path]]:
    """Run dolphie's daemon until the block ends; give its process and the folder its file grows in."""
    home, replays = folder / "dolphie-home", folder / "dolphie-replays"
    home.mkdir(exist_ok=True)
    replays.mkdir()
    process = subprocess.Popen(
        [str(executable()), *arguments(port), "-D", "--replay-dir", replays, "--daemon-log-file", home / "log"],
        env={**os.environ, "HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.pid, replays
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
