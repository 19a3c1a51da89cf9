"""What a unit of systemd would start a server with, beside its option files: would it found a cluster of its own? Pure.

Out of the read START_LINE (connections/programs/read_programs.py). Of all that stands there only the few words are
kept that decide whom a server joins. Sources: systemd.exec(5), "Environment" (Environment= counts over systemd's own,
a file of EnvironmentFile= over both); systemd.service(5), "Command lines"; MariaDB KB "Galera Cluster System
Variables"; MySQL manual, "Specifying Program Options" (an option may be shortened, dashes are underscores).
"""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass

from services.facts.replication.log_filters import LEAVING_OUT, leaves_out
from services.facts.server.values import OFF_WORDS
from services.lines import lines_of

_MOST = 200_000
_ARGV = re.compile(r"ExecStart=\{ path=(\S+) ; argv\[\]=(.*?) ; ignore_errors=")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_KNOWN = re.compile(r"(manager|unit) (.*)|(file|script) (\S+) (.*)")
_SERVERS = frozenset({"mysqld", "mariadbd", "mysqld_safe", "mariadbd-safe"})
_OPTIONS = (
    ("wsrep_new_cluster", len("wsrep_ne")),
    ("wsrep_cluster_address", len("wsrep_cluster_a")),
    ("wsrep_start_position", len("wsrep_start")),
    ("wsrep_on", len("wsrep_on")),
    ("wsrep_provider", len("wsrep_provider")),
    ("defaults_file", len("defaults_f")),
    ("defaults_extra_file", len("defaults_e")),
    ("defaults_group_suffix", len("defaults_g")),
    ("no_defaults", len("no_d")),
    *((name, least) for name, least, _ in LEAVING_OUT),
)
"""Each with the least that is typed of it."""
_WITH_VALUE = frozenset(
    {"wsrep_cluster_address", "wsrep_start_position", "wsrep_provider", *(name for name, _, _ in LEAVING_OUT)}
)
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class StartWord:
    """One word of a server's command line that decides whom it joins.

    Attributes:
        option: with underscores; value: '' where none is given.
        kind: 'argument' of the unit itself, or a variable of 'manager' (systemd's own environment), 'unit'
            (Environment=), 'file' (EnvironmentFile=), 'script' (a file that start scripts read).
        variable: its name, '' for an argument; path: the file's.
    """

    option: str
    value: str
    kind: str
    variable: str = ""
    path: str = ""

    @property
    def shown(self) -> str:
        """Return it as it stands in the command line."""
        name = f"--{self.option.replace('_', '-')}"
        return f"{name}={self.value[:_SHOWN]}" if self.value else name

    def stands(self, unit: str) -> str:
        """Return where it stands, for a sentence."""
        where = {"manager": "systemd's environment", "unit": f"Environment= of {unit}"}.get(self.kind, self.path)
        return f"{self.variable} in {where}" if self.variable else f"the command of {unit}"

    def remedy(self, unit: str) -> str:
        """Return what takes it away."""
        if self.kind == "manager":
            return f"systemctl unset-environment {self.variable}"
        if self.kind in {"file", "script"}:
            return f"remove {self.variable} from {self.path}"
        return f"take it out of {unit} (systemctl edit {unit})"


@dataclass(frozen=True, slots=True)
class StartLine:
    """What a unit starts, as far as it decides whom the server joins.

    Attributes:
        script: the program that it starts, where that is a script whose own words are not known; '' for a server.
        words: what was found; unread: files that give it variables, and could not be read.
    """

    unit: str
    script: str = ""
    words: tuple[StartWord, ...] = ()
    unread: tuple[str, ...] = ()

    def founding(self) -> tuple[tuple[str, str], ...]:
        """Return (what is wrong, what takes it away) of each word that has the server join nobody, or found."""
        wrong = ((word, _wrong(word)) for word in self.words)
        pairs = (
            (f"{word.stands(self.unit)} gives {word.shown}: {why}", word.remedy(self.unit))
            for word, why in wrong
            if why
        )
        return tuple(dict.fromkeys(pairs))

    def filters(self, options: tuple[str, ...]) -> tuple[str, ...]:
        """Return each word of these options that leaves rows out, of a log or of what is applied, and its place."""
        leaving = (w for w in self.words if w.option in options and leaves_out(w.option, w.value))
        return tuple(dict.fromkeys(f"{w.stands(self.unit)} gives {w.shown}" for w in leaving))

    def blind(self, option_files: tuple[str, ...]) -> tuple[str, ...]:
        """Return why its command line is not known whole: files not read, other option files than were judged."""
        found = [f"{path}, which gives {self.unit} variables, could not be read" for path in self.unread]
        for word in self.words:
            other = word.option.startswith(("defaults_", "no_defaults"))
            if other and not (word.option == "defaults_file" and word.value in option_files):
                found.append(
                    f"{word.stands(self.unit)} gives {word.shown}: other option files are read than were judged"
                )
        return tuple(dict.fromkeys(found))


def start_line(text: str, unit: str) -> StartLine | None:
    """Return what the read says of a unit; None where systemd knows no command of it."""
    lines = lines_of(text[:_MOST])
    commands = [found.groups() for found in map(_ARGV.match, lines) if found is not None]
    if not commands:
        return None
    argv = tuple(word for _, words in commands for word in words.split())
    named = {posixpath.basename(word.strip("\"';")) for word in (*(path for path, _ in commands), *argv)}
    script = "" if named & _SERVERS else commands[0][0]
    given = _given(lines, scripts=bool(script))
    before = " ".join(line for line in lines if line.startswith("ExecStartPre="))
    words = (*_words(argv, "argument", "", ""), *_words_of_variables(argv, given, everything=bool(script)))
    if re.search(r"start[-_]position", before, re.IGNORECASE):  # the unit finds it anew before each start
        words = tuple(word for word in words if not (word.option == "wsrep_start_position" and word.variable))
    unread = [line.split(None, 2) for line in lines if line.startswith("unread ")]
    told = tuple(parts[2] for parts in unread if len(parts) == 3 and (parts[1] == "file" or script))
    return StartLine(unit, script, tuple(dict.fromkeys((*words, *_set_before(before)))), tuple(dict.fromkeys(told)))


def holding(path: str) -> str:
    """Return the regular expression, grep's, of the line by which a drop-in holds starts off."""
    return f"^ExecStartPre=.*{path.replace('.', '[.]')}"


def holds_off(path: str, text: str) -> bool:
    """Return whether the drop-in at a path, with this text, still holds starts off: whatever else stands there."""
    return any(line.startswith("ExecStartPre=") and path in line for line in lines_of(text))


def command_words(text: str) -> tuple[str, ...] | None:
    """Return the words of the one command that a unit starts, out of the same read, with its variables put in.

    None where systemd knows no command of it, or several. `$NAME` as a word of its own is split into words, `${NAME}`
    is none of several (systemd.service(5), "Command lines").
    """
    lines = lines_of(text[:_MOST])
    commands = [found.groups() for found in map(_ARGV.match, lines) if found is not None]
    if len(commands) != 1:
        return None
    given = {name: value for name, (value, _, _) in _given(lines, scripts=False).items()}
    words: list[str] = []
    for word in commands[0][1].split():
        name = _VARIABLE.fullmatch(word)
        if name is not None and name[2]:
            words += _split(given.get(name[2], ""))
        else:
            words.append(_VARIABLE.sub(lambda one: given.get(one[1] or one[2], ""), word.strip("\"'")))
    return tuple(words)


def founds(command_line: str) -> bool:
    """Return whether a running server's own command line says that it founds a cluster."""
    words = _words(tuple(command_line.split()), "argument", "", "")
    return any(word.option == "wsrep_new_cluster" and bool(_wrong(word)) for word in words)


def words_that_leave_out(command_line: str) -> tuple[tuple[str, str], ...]:
    """Return (option, value) of a running server's own command line that leave rows out (see log_filters)."""
    words = _words(tuple(command_line.split()), "argument", "", "")
    return tuple((word.option, word.value) for word in words if leaves_out(word.option, word.value))


def names_nobody(address: str) -> bool:
    """Return whether a wsrep_cluster_address names no member to join."""
    return not address.partition("://")[2].partition("?")[0].strip(" ,\"'")


def _wrong(word: StartWord) -> str:
    value = word.value.strip("\"'").lower()
    if word.option == "wsrep_new_cluster":
        return "" if value in OFF_WORDS else "its server founds a cluster of its own"
    if word.option == "wsrep_cluster_address":
        return "it names nobody to join" if names_nobody(value) else ""
    if word.option == "wsrep_start_position":
        return "it tells where the data stand, whatever they hold by now" if value else ""
    if word.option == "wsrep_on":
        return "the server joins nobody" if value in OFF_WORDS else ""
    return "the server joins nobody" if word.option == "wsrep_provider" and value == "none" else ""


def _given(lines: tuple[str, ...] | list[str], *, scripts: bool) -> dict[str, tuple[str, str, str]]:
    """Return variable -> (value, kind, path): the one that counts of several."""
    found: dict[str, tuple[str, str, str]] = {}
    ranked = sorted(
        filter(None, map(_KNOWN.fullmatch, lines)), key=lambda one: ("manager", "unit").index(one[1]) if one[1] else 2
    )
    for one in ranked:
        kind, path = one[1] or one[3], one[4] or ""
        if kind == "script" and not scripts:
            continue
        items = _split(one[2] or "") if kind == "unit" else [_plain(one[2] or one[5] or "")]
        found.update({name: (value, kind, path) for name, _, value in (item.partition("=") for item in items) if name})
    return found


def _split(text: str) -> list[str]:
    """Return the words of a line as systemd shows lists: with a shell's quotes."""
    try:
        return shlex.split(text.replace("$'", "'"))
    except ValueError:
        return text.split()


def _plain(item: str) -> str:
    """Return NAME=VALUE with the quotes around its value gone: $'a b', "a b"."""
    name, _, value = item.partition("=")
    value = value.strip().removeprefix("$")
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1].replace("\\'", "'")
    return f"{name}={value}"


def _words_of_variables(
    argv: tuple[str, ...], given: dict[str, tuple[str, str, str]], *, everything: bool
) -> tuple[StartWord, ...]:
    """Return what variables bring in: those that the command names, all that scripts may know where it is a script."""
    named = [a or b for word in argv for a, b in _VARIABLE.findall(word)]
    wanted = dict.fromkeys((*named, *(given if everything else ())))
    found: list[StartWord] = []
    for name in wanted:
        value, kind, path = given.get(name, ("", "", ""))
        found += _words(tuple(_split(value)), kind, name, path)
    return tuple(found)


def _set_before(commands: str) -> tuple[StartWord, ...]:
    """Return the founding that a command before the start sets up."""
    founding = re.search(r"_WSREP_NEW_CLUSTER=['\"]?-|--wsrep[-_]new[-_]cluster", commands, re.IGNORECASE)
    return (StartWord("wsrep_new_cluster", "", "argument"),) if founding else ()


def _words(words: tuple[str, ...], kind: str, variable: str, path: str) -> tuple[StartWord, ...]:
    found: list[StartWord] = []
    for at, word in enumerate(words):
        name, joined, value = word.strip("\"';").partition("=")
        option, off = _option(name)
        if not option:
            continue
        if not joined and not off and option in _WITH_VALUE:
            after = words[at + 1] if at + 1 < len(words) else ""
            value = "" if after.startswith("-") else after
        found.append(StartWord(option, "OFF" if off else value, kind, variable, path))
    return tuple(found)


def _option(word: str) -> tuple[str, bool]:
    """Return the option that a word is, and whether it switches it off; ('', False) for any other word."""
    if not word.startswith("--"):
        return "", False
    name = word[2:].replace("-", "_").lower().removeprefix("loose_")
    off = name.startswith(("skip_", "disable_"))
    name = name.removeprefix("skip_").removeprefix("disable_").removeprefix("enable_")
    return next((full for full, least in _OPTIONS if len(name) >= least and full.startswith(name)), ""), off
