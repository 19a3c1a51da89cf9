"""ssh_config where no `ssh` is there to be asked: as OpenSSH's readconf.c, refusing by name what is not known.

Compared with `ssh -G` over thousands of files (openssh/test_ssh_config_differential.py). Where versions of
OpenSSH differ, the line is refused; nothing that is not known counts as fulfilled.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from services.addresses import is_ip, parse_hop
from services.connections.openssh.canonical_name import canonical_name
from services.connections.openssh.conditions import Conditions
from services.connections.openssh.keywords import (
    CHOICES,
    CLEARED_BY_NONE,
    FILE_LISTS,
    LINES,
    MANY,
    NUMBERS,
    TEXTS,
    TIMES,
)
from services.connections.openssh.own_account import below_home, own_login
from services.connections.openssh.settings import OTHER_NAMES, Settings
from services.connections.openssh.tokens import Tokens
from services.connections.openssh.treatment import OF_NO_WEIGHT
from services.connections.openssh.watched import other_encoding
from services.errors import BadInput
from services.globs import Globs
from services.i18n import tr
from services.lines import lines_of
from services.ssh_words import BadLine, arguments, fits, fits_list, keyword_of, port_of, seconds_of
from services.workstation.files import not_ones_own, read_bounded

SYSTEM_FOLDER = Path("/etc/ssh")
MOST_INCLUDES = 16  # READCONF_MAX_DEPTH in OpenSSH's readconf.c
MOST_FILES = 200
_MOST_NUMBER = 2**31 - 1
_NONE = "none"
_DOMAIN = re.compile(r"(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_.-]*")
_NO_JUMP = ""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file to read: of_user: relative names are below ~/.ssh; judged: nobody else may be able to write it."""

    path: Path
    of_user: bool = True
    judged: bool = False


@dataclass(slots=True)
class _Place:
    """Where the reading is: the file, its depth, whether lines count, and whether they ever can in this file."""

    file: ConfigFile
    depth: int
    active: bool = True
    never: bool = False
    number: int = 0


@dataclass(slots=True)
class _Reading:
    """One host's reading, over both passes: what stands first stays.

    address: as it was asked for; current: the name that `Host` lines are held against, in the second pass HostName.
    """

    address: str
    current: str
    values: dict[str, list[str]] = field(default_factory=dict)
    wants_final: bool = False
    globs: Globs = field(default_factory=Globs)
    files: int = 0
    conditions: Conditions = field(default_factory=Conditions)

    def read(self, place: _Place, *, final: bool) -> None:
        """Read a file and those that it includes. Raises BadInput with file and line."""
        path = place.file.path
        if place.depth > MOST_INCLUDES:
            raise BadInput(tr("{file}: Include is nested deeper than {n} files.", file=path, n=MOST_INCLUDES))
        self.files += 1
        if self.files > MOST_FILES:
            raise BadInput(tr("{file}: {word} names more than {n} files.", file=path, word="Include", n=MOST_FILES))
        for number, line in enumerate(_lines(place.file), 1):
            place.number = number
            try:
                self._line(line, place, final)
            except BadLine as problem:
                raise BadInput(
                    tr(
                        "{file} is not a valid ssh_config, or cannot be read without an ssh program: line "
                        "{number}: {problem}.",
                        file=path,
                        number=number,
                        problem=problem,
                    ),
                    safe=tr("No host was contacted."),
                ) from problem

    def _line(self, line: str, place: _Place, final: bool) -> None:
        keyword, rest = keyword_of(line)
        if not keyword:
            return
        keyword = OTHER_NAMES.get(keyword, keyword)
        if not rest:
            raise BadLine(tr("nothing follows {word}", word=keyword))
        words = arguments(rest)
        if keyword == "host":
            place.active = self._is_of(words, place)
        elif keyword == "match":
            met = self.conditions.met(rest, words, self.values, self.address, final=final)
            self.wants_final |= self.conditions.wants_final
            place.active = met and not place.never
        elif keyword == "include":
            self._include(words, place, final)
        else:
            self._option(keyword, rest, words, active=place.active)

    def _is_of(self, patterns: Sequence[str], place: _Place) -> bool:
        found = False
        for pattern in patterns:
            if not pattern:
                raise BadLine(tr("a pattern is empty"))
            if place.never:
                return False
            if fits(self.current, pattern.removeprefix("!")):
                if pattern.startswith("!"):
                    return False
                found = True
        return found

    def _include(self, words: Sequence[str], place: _Place, final: bool) -> None:
        of_user = place.file.of_user
        base = below_home("~/.ssh") if of_user else SYSTEM_FOLDER
        for word in words:
            if not word or "%" in word or "$" in word or (word.startswith("~") and not of_user):
                raise BadLine(tr('OpenSSH versions read Include "{text}" differently', text=word))
            for name in self.globs.matching(base / below_home(word)):
                inner = ConfigFile(name, of_user, judged=True)
                self.read(_Place(inner, place.depth + 1, place.active, place.never or not place.active), final=final)

    def _option(self, name: str, rest: str, words: Sequence[str], *, active: bool) -> None:
        if name in LINES:
            text = rest.lstrip(" \t\r\n=")
            if (
                name == "proxycommand"
                and active
                and self.values.get("proxyjump") == [_NO_JUMP]
                and name not in self.values
            ):
                raise BadLine(tr("OpenSSH versions read ProxyCommand after ProxyJump none differently"))
            self._keep(name, [text], active)
        elif name == "proxyjump":
            self._jump(rest.lstrip(" \t\r\n="), active)
        elif name in MANY:
            value = _only(name, words)
            kept = self.values.setdefault(name, []) if active else []
            if value not in kept:
                kept.append(value)
        elif name in FILE_LISTS:
            self._keep(name, _files(name, words), active)
        elif name == "canonicaldomains":
            self._keep(name, _domains(words), active)
        else:
            self._single(name, words, active=active)

    def _single(self, name: str, words: Sequence[str], *, active: bool) -> None:
        readers: dict[str, Callable[[str], str]] = {"port": lambda text: str(port_of(text))}
        readers |= dict.fromkeys(TEXTS, lambda text: text)
        readers["identityagent"] = _agent
        readers |= dict.fromkeys(TIMES, lambda text: _NONE if (s := seconds_of(text)) is None else str(s))
        readers |= dict.fromkeys(NUMBERS, _number)
        readers |= dict.fromkeys(CHOICES, lambda text: _choice(name, text))
        if name in readers:
            value = readers[name](_only(name, words))
            is_unset = name in TIMES and value == _NONE
            self._keep(name, [value], active and not is_unset)
        elif name not in OF_NO_WEIGHT and not fits_list(name, self.values.get("ignoreunknown", [""])[0], is_host=True):
            raise BadLine(tr('the option "{name}" is not supported without an ssh program', name=name))

    def _keep(self, name: str, values: list[str], active: bool) -> None:
        if active:
            self.values.setdefault(name, values)

    def _jump(self, text: str, active: bool) -> None:
        if text.lower() == _NONE:  # with a remark behind it, it is a host of that name
            self._keep("proxyjump", [_NO_JUMP], active and "proxycommand" not in self.values)
            return
        text = text.partition("#")[0].rstrip(" \t\r\n")
        if not all(parse_hop(hop) for hop in text.split(",")):
            raise BadLine(tr('"{hop}" is not a jump host', hop=text))
        if active and "proxycommand" not in self.values and "proxyjump" not in self.values:
            self.values |= {"proxyjump": [text], "proxycommand": [_NONE]}


def read_settings(
    files: Sequence[ConfigFile], address: str, *, user: str | None, port: int | None, jump: str | None
) -> Settings:
    """Return what the files say of a host; what is given (as on a command line) comes first.

    Raises BadInput for a file that can't be read, that OpenSSH refuses, or that has what is not known here.
    """
    reading = _Reading(address, address)
    given = {"user": user, "port": str(port) if port else None}
    reading.values |= {name: [value] for name, value in given.items() if value}
    if jump:
        is_none = jump.lower() == _NONE
        reading.values |= {"proxyjump": [_NO_JUMP if is_none else jump], "proxycommand": [_NONE]}
    for file in files:
        reading.read(_Place(file, 0), final=False)
    values = reading.values
    named = values.get("hostname", [address])[0]
    host = Tokens(address, address, 0, "").put_in(named, "HostName", only="h", environment=False)
    host = _plain(host)
    command = values.get("proxycommand", [_NONE])[0].lower()
    jumps = command != _NONE or values.get("proxyjump", [_NO_JUMP]) != [_NO_JUMP]
    flat = {name: " ".join(value) for name, value in values.items()}
    full = canonical_name(host, flat, jumps=jumps)
    values["hostname"] = [full or host]
    reading.current = values["hostname"][0]
    if reading.wants_final or flat.get("canonicalizehostname", "no").lower() not in {"no", "false"}:
        for file in files:
            reading.read(_Place(file, 0), final=True)
    return _with_defaults(values)


def _with_defaults(values: dict[str, list[str]]) -> Settings:
    for name in CLEARED_BY_NONE:
        if values.get(name, [""])[0].lower() == _NONE:
            del values[name]
    has_user = "user" in values
    values.setdefault("user", [own_login()])
    values.setdefault("port", ["22"])
    values.setdefault("serveralivecountmax", ["3"])
    if "hostkeyalias" in values:
        values["hostkeyalias"] = [values["hostkeyalias"][0].lower()]
    _refuse_circle(values)
    return Settings(values, has_user)


def _refuse_circle(values: dict[str, list[str]]) -> None:
    hop = parse_hop(values.get("proxyjump", [""])[0].rpartition(",")[2])
    user, host, port = (values[name][0] for name in ("user", "hostname", "port"))
    if hop is not None and (hop[0] or user, hop[1], str(hop[2] or 22)) == (user, host, port):
        raise BadInput(tr("ssh_config reaches {host} through itself.", host=host), safe=tr("No host was contacted."))


def _plain(host: str) -> str:
    """Return a name in lower case, and an IPv6 address in its one form."""
    if is_ip(host) and ":" in host and "%" not in host:
        return socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, host))
    return host.lower()


def _lines(file: ConfigFile) -> list[str]:
    path = file.path
    if file.judged and path.is_dir():
        return []  # nothing stands in it
    try:
        foreign = not_ones_own(path) if file.judged else ""
        data = read_bounded(path)
    except OSError as problem:
        raise BadInput(
            tr("{file} cannot be read ({problem}).", file=path, problem=problem.strerror or problem)
        ) from problem
    if foreign:
        raise BadInput(tr("{file} is not used: {problem}.", file=path, problem=foreign))
    if sentence := other_encoding(path, data):
        raise BadInput(sentence, safe=tr("No host was contacted."))
    text = data.decode("utf-8", "surrogateescape")
    if "\0" in text:
        raise BadInput(tr("{file} is not a text file.", file=path))
    return lines_of(text)


def _only(name: str, words: Sequence[str]) -> str:
    if not words or not words[0]:
        raise BadLine(tr("nothing follows {word}", word=name))
    if len(words) > 1:
        raise BadLine(tr('{word} takes one word, and "{text}" has more', word=name, text=" ".join(words)))
    return words[0]


def _files(name: str, words: Sequence[str]) -> list[str]:
    if not words or not all(words) or (len(words) > 1 and any(word.lower() == _NONE for word in words)):
        raise BadLine(tr('{word} does not accept "{text}"', word=name, text=" ".join(words)))
    if name == "revokedhostkeys" and len(words) > 1:
        raise BadLine(tr("OpenSSH versions read {word} with several files differently", word=name))
    return list(words)


def _domains(words: Sequence[str]) -> list[str]:
    if (
        not words
        or (len(words) > 1 and any(word.lower() == _NONE for word in words))
        or not all(_DOMAIN.fullmatch(word) for word in words)
    ):
        raise BadLine(tr('{word} does not accept "{text}"', word="canonicaldomains", text=" ".join(words)))
    return [word.lower() for word in words]


def _choice(name: str, text: str) -> str:
    if text.lower() not in CHOICES[name]:
        raise BadLine(tr('{word} does not accept "{text}"', word=name, text=text))
    return text.lower()


def _agent(text: str) -> str:
    named = re.findall(r"\$\{([^}]*)", text) if "${" in text else []
    if text.startswith("$") and not text.startswith("${") and not re.fullmatch(r"[A-Za-z0-9_]+", text[1:]):
        raise BadLine(tr('"{text}" does not name a variable', text=text))
    if missing := [name for name in named if name not in os.environ]:
        raise BadLine(tr('the variable "{text}" is not set', text=missing[0]))
    return text


def _number(text: str) -> str:
    if not text.isascii() or not text.isdigit() or len(text) > 10 or int(text) > _MOST_NUMBER:
        raise BadLine(tr('"{text}" is not a whole number', text=text))
    return str(int(text))
