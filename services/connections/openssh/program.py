"""`ssh -G`: OpenSSH itself says what its configuration means for a host (man ssh(1)).

Nobody is contacted by it, but what the configuration asks of others while it is read is: the programs of `Match exec`
run and CanonicalizeHostname asks the resolver, once for each connection, as at a terminal. Where the files ask for
neither, an answer is kept until one of them changes.
"""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from services.connections.openssh.canonical_name import no_domain_knows
from services.connections.openssh.conditions import end
from services.connections.openssh.own_account import below_home, home_of_passwd, login_of_passwd
from services.connections.openssh.settings import Settings, settings_of
from services.connections.openssh.watched import Watched, watched
from services.errors import BadInput, TimedOut
from services.i18n import tr
from services.lines import lines_of
from services.secrets import environment_for_children
from services.visible import as_line

MOST_S = 15.0
"""Of one run; the person's own programs and the resolver may be part of it."""
_MOST_BYTES = 2**20
_MOST_SAID = 300
_MOST_KEPT = 2000
_READS = re.compile(r"debug1: Reading configuration data (.+)")
_NO_DOMAIN = re.compile(r'^\S*ssh(?:\.exe)?: Could not resolve host "([^"\n]+)"', re.MULTILINE)
"""ssh.c, resolve_canonicalize: of CanonicalizeFallbackLocal no alone."""
_STDIN = "/dev/stdin"
_LEFT, _PUT_IN = "/%%", "/%"
_NO_FILES = "none"  # ssh(1), -F: "none" reads no file at all
_KNOWN_HOSTS = (".ssh/known_hosts", ".ssh/known_hosts2")
_COMMAND = "sh"  # what the sessions of this program run
_NO_LOGIN = "pilothouse-no-login"
_NOT_IN_QUOTES = re.compile(r'["\\%$*?\[\]\n]')


@dataclass(frozen=True, slots=True)
class Question:
    """What `ssh -G` is asked: a host, and what stands on its command line (None: not given).

    config: another file in the place of both; jump: the hops that the inventory names.
    asks_login: it has to be told whether the files name a login; is_hop: nothing runs there, it leads to another host.
    """

    address: str
    config: str | None = None
    user: str | None = None
    port: int | None = None
    jump: str | None = None
    asks_login: bool = False
    is_hop: bool = False


_kept: dict[tuple[object, ...], tuple[Watched, Settings]] = {}
_lock = threading.Lock()


def ssh_program() -> str | None:
    """Return where OpenSSH's ssh is on this machine, None where there is none.

    None as well where this account has no entry in passwd(5): ssh does not run for it.
    On Windows the system's own comes first: another's (Git's) names files in a way that this program can't open.
    """
    if os.name == "posix" and home_of_passwd() is None:
        return None
    name = "ssh.exe" if os.name == "nt" else "ssh"
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]  # noqa: PTH117
    if os.name == "nt":
        folders.insert(0, str(Path(os.environ.get("SystemRoot", r"C:\Windows"), "System32", "OpenSSH")))  # noqa: SIM112
    for folder in folders:
        program = Path(folder, name)
        if program.is_file() and os.access(program, os.X_OK):
            return str(program)
    return None


def ask_ssh(program: str, question: Question) -> Settings:
    """Return what OpenSSH makes of a host. The address has been judged: no option, no letters of a shell.

    Raises:
        BadInput: ssh refuses the files, or the host; its own words are in the sentence.
        TimedOut: it did not end in its time.
    """
    files = _files(question)
    key = (program, question, tuple(sorted(environment_for_children().items())))
    before = watched([program, *files])
    if before.refused:
        raise BadInput(before.refused, safe=tr("No host was contacted."))
    with _lock:
        kept = _kept.get(key)
    if kept is not None and kept[0] == before:
        return kept[1]
    found, read = _settings(program, question, files, of_session=before.of_session)
    if not before.of_session and watched([program, *sorted(read - before.names - {_STDIN})]).of_session:
        # An Include whose name has %h or ${VARIABLE} in it (OpenSSH 10.0): which file that is, ssh alone says.
        found, read = _settings(program, question, files, of_session=True)
    if not before.moving and before.names >= read - {_STDIN} and before == watched([program, *files]):
        with _lock:
            while len(_kept) >= _MOST_KEPT:
                _kept.pop(next(iter(_kept)))
            _kept[key] = (before, found)
    return found


def defaults_of(program: str) -> Settings:
    """Return what a program says where no file is read: its own lists of algorithms, and every setting it knows."""
    try:
        found = ask_ssh(program, Question("localhost", config=_NO_FILES))
    except BadInput:  # an old one, which takes this for the name of a file
        return Settings()
    return dataclasses.replace(found, puts_in_revoked=found.one("revokedhostkeys") == _PUT_IN)


def _files(question: Question) -> list[str]:
    if question.config == _NO_FILES:
        return []
    if question.config is not None:
        return [question.config]
    own = [str(below_home("~/.ssh/config"))]
    if os.name == "nt":
        return [*own, str(Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData"), "ssh", "ssh_config"))]
    return [*own, "/etc/ssh/ssh_config", "/usr/etc/ssh/ssh_config"]


def _settings(
    program: str, question: Question, files: Sequence[str], *, of_session: bool
) -> tuple[Settings, frozenset[str]]:
    """Return the settings and the names of the files that ssh says it read."""
    own = home_of_passwd()
    is_moved = own is not None and own != below_home("~")
    text = _frame(files) if is_moved and question.config is None else None
    answer, read = _run(program, question, text, of_session=of_session)
    found = settings_of(answer)
    if own is not None and is_moved and found.all("userknownhostsfile") == tuple(str(own / n) for n in _KNOWN_HOSTS):
        found = found.without("userknownhostsfile")
    if question.asks_login and found.one("user") == login_of_passwd():
        found = dataclasses.replace(found, has_user=_names_a_login(program, question, files, of_session=of_session))
    return found, read


def _names_a_login(program: str, question: Question, files: Sequence[str], *, of_session: bool) -> bool:
    """Return whether the files name the very login that ssh takes where they name none: asked with one behind them."""
    text = _frame(files, f"Match all\nUser {_NO_LOGIN}\n")
    if text is None:
        return False
    try:
        return settings_of(_run(program, question, text, of_session=of_session)[0]).one("user") != _NO_LOGIN
    except BadInput:
        return True  # a file that may be named on a command line and not by Include: ssh's own answer stands


def _frame(files: Sequence[str], more: str = "") -> str | None:
    """Return a configuration that reads the files and then says more; None where that can't be said."""
    if not sys.platform.startswith("linux") or any(_NOT_IN_QUOTES.search(file) for file in files):
        return None
    return "".join(f'Match all\nInclude "{file}"\n' for file in files) + more


def _run(program: str, question: Question, text: str | None, *, of_session: bool) -> tuple[str, frozenset[str]]:
    argv = [program, "-G", "-v", "-T"]
    if text is not None:
        argv += ["-F", _STDIN]  # a file, not a pipe: ssh opens it anew for its second pass
    elif question.config is not None:
        argv += ["-F", question.config]
    if question.config == _NO_FILES:
        argv += ["-o", f"RevokedHostKeys={_LEFT}"]
    is_direct = (question.jump or "").lower() == "none"  # -J none leaves a ProxyCommand standing
    given = {
        "-l": question.user,
        "-p": question.port and str(question.port),
        "-J": None if is_direct else question.jump,
        "-o": "ProxyCommand=none" if is_direct else None,
    }
    for option, value in given.items():
        argv += [option, value] if value else []
    before, behind = _session(question) if of_session else ((), ())
    argv += [*before, "--", question.address, *behind]
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        stdin.write((text or "").encode("utf-8", "surrogateescape"))
        stdin.seek(0)
        code = _exit_code(argv, question.address, stdin if text is not None else None, (out, errors))
        answer, said = _text(out), _text(errors)
    if code != 0 and (host := _NO_DOMAIN.search(said)):
        raise no_domain_knows(host[1])
    if code != 0:
        raise BadInput(
            tr("ssh cannot read its configuration for {address}: {said}", address=question.address, said=_short(said)),
            safe=tr("No host was contacted."),
            try_=(tr("Try it in a terminal: ssh -G {address}", address=question.address),),
        )
    return answer, frozenset(match[1].strip() for line in lines_of(said) if (match := _READS.match(line)))


def _session(question: Question) -> tuple[Sequence[str], Sequence[str]]:
    """Return what tells ssh, before and behind the address, which kind of session is meant: a command's, or none.

    The files' own SessionType and RemoteCommand are of no weight here (treatment.py), and ssh takes no command beside
    the latter. Only versions that know all of this have a `Match` that asks for the session.
    """
    if question.is_hop:
        return ("-N",), ()
    return ("-o", "SessionType=default", "-o", "RemoteCommand=none"), (_COMMAND,)


def _exit_code(argv: Sequence[str], address: str, stdin: IO[bytes] | None, told: tuple[IO[bytes], IO[bytes]]) -> int:
    out, errors = told
    try:
        with subprocess.Popen(  # noqa: S603 - a judged address behind '--'
            argv,
            stdin=stdin or subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            env=environment_for_children(),
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        ) as running:
            try:
                return running.wait(MOST_S)
            finally:
                end(running)
    except subprocess.TimeoutExpired:
        raise TimedOut(
            tr("ssh -G did not report the configuration for {address} within {limit:g} s.",
               limit=MOST_S, address=address),
            safe=tr("No host was contacted."),
            try_=(tr("Check its Match exec and CanonicalizeHostname: ssh -vG {address}", address=address),),
        ) from None  # fmt: skip
    except OSError as problem:
        raise BadInput(
            tr("{file} cannot be started ({problem}).", file=argv[0], problem=problem.strerror or problem)
        ) from problem


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read(_MOST_BYTES).decode("utf-8", "surrogateescape")


def _short(said: str) -> str:
    """Return the first of what ssh complains of, without what it tells of its work."""
    lines = [line for line in lines_of(said) if line and not line.startswith(("debug", "OpenSSH_"))]
    return as_line("; ".join(lines[:2]) or tr("it gave no reason"), _MOST_SAID)
