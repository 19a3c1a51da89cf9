"""Configuration files of OpenSSH made up from a seed: what people write, manuals allow, and what is wrong."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

ADDRESSES = ("db1", "DB1", "web.example", "10.0.0.5", "fd00::3", "db-2.prod.example", "gate")
_USERS = ("dba", "root", "ops", "alice")
_PATTERNS = (
    "db1", "db?", "*", "*.example", "!db1", "!*.prod.example", "10.0.*", "DB*", "web.example", "gate", "none.such",
    "'db1'", '"db1"', "fd00::*", "db1*#x", "**1",
)  # fmt: skip
_HOSTS = ("10.0.0.9", "%h.example", "real-%h", "Big.Example", "%%h", "fd00:0::9", '"quoted.example"', "a b")
_PORTS = (
    "22", "2222", "ssh", "0", "-1", "99999", "22x", "65535", "mysql", "''", "2200 # forwarded", '"2201"', "=2202",
    "022",
)  # fmt: skip
_FILES = (
    "~/.ssh/id_a", "/keys/%h", "/keys/%r-%p", '"/keys/with space"', "/keys/with\\ space", "/keys/%%x", "/keys/%n",
    "none", "/keys/%d/x", "'/keys/q'", "/keys/a#b", "/keys/a #b", "/keys/%u-%L", "/k\\q", '/k"e"y', "/keys/%k",
)  # fmt: skip
_BAD_FILES = ('"/keys/unclosed', "", '""', "/one /two")
_LISTS = ("/kh/a /kh/b", "/kh/%h", "none", '"/kh/a b" /kh/c', "/kh/%k-%r", "none /kh/a", "/kh/x # more", "/kh/%p")
_JUMPS = (
    "gate", "ops@gate", "gate:2022", "ops@gate:2022,inner", "none", "None", "a,b,c", "ssh://ops@gate:2022", "a b",
    "[fd00::1]:22", "gate # by day", "10.0.0.1", "gate:0", "gate:x", "", "none # no", "@gate", "-x",
)  # fmt: skip
_COMMANDS = (
    "none",
    "nc %h %p",
    "nc -x p:1 %h %p # why",
    '"quoted %h"',
    "= odd %n %r",
    "nc %% %h",
    "NONE",
    "sh -c 'x %h'",
)
_TIMES = ("7", "1m", "1m30s", "2h", "none", "0", "x", "10s10", "3w", "-1", "1M", "9" * 12, "5 # s")
_FLAGS = ("yes", "no", "true", "false", "Yes", "maybe", "", "yes # keep", "ask", "accept-new", "off", "always", '"yes"')
_OPTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("HostName", _HOSTS), ("Port", _PORTS), ("User", (*_USERS, "dba  # ours", '"a b"', "''")),
    ("IdentityFile", (*_FILES, *_BAD_FILES)), ("CertificateFile", (*_FILES, *_BAD_FILES)),
    ("IdentitiesOnly", _FLAGS), ("StrictHostKeyChecking", _FLAGS), ("HashKnownHosts", _FLAGS),
    ("CheckHostIP", _FLAGS), ("VerifyHostKeyDNS", _FLAGS), ("ProxyUseFdpass", _FLAGS),
    ("UserKnownHostsFile", _LISTS), ("GlobalKnownHostsFile", _LISTS), ("RevokedHostKeys", (*_FILES, *_LISTS)),
    ("ProxyJump", _JUMPS), ("ProxyCommand", _COMMANDS), ("KnownHostsCommand", _COMMANDS),
    ("HostKeyAlias", ("prod", "Prod-DB", "a b", '"x y"')), ("IdentityAgent", ("none", "SSH_AUTH_SOCK", "/a/%r", "$X_Y",
     "$1x", "/a/${NO_SUCH}", "/a b")),
    ("ConnectTimeout", _TIMES), ("ServerAliveInterval", _TIMES), ("ServerAliveCountMax", ("3", "x", "2 # n", "05", "")),
    ("IgnoreUnknown", ("UseKeychain", "Use*,Odd*", "odd*")), ("UseKeychain", ("yes",)), ("OddOption", ("1",)),
    ("Compression", ("yes", "no")), ("ForwardAgent", ("yes", "no")), ("LogLevel", ("ERROR",)),
    ("SendEnv", ("LANG LC_*",)),
    ("Ciphers", ("aes256-ctr", "+aes256-cbc", "-aes128-ctr,*gcm*", "^aes256-gcm@openssh.com")),
    ("AddressFamily", ("inet", "inet6", "any", "INET", "x")), ("BindAddress", ("10.0.0.2", "a b")),
    ("PubkeyAuthentication", (*_FLAGS, "unbound", "host-bound")),
    ("PreferredAuthentications", ("password", "publickey,password")),
    ("PKCS11Provider", ("none", "/lib/p.so")), ("LocalForward", ("8080 localhost:80",)), ("EscapeChar", ("none",)),
    ("Protocol", ("2",)), ("RSAAuthentication", ("yes",)), ("PasswordAuthentication", ("no",)),
    ("CanonicalizeHostname", ("no", "false")), ("CanonicalDomains", ("none", "one.example two.example", "none x")),
)  # fmt: skip
_OF_NO_WEIGHT = {"Compression", "ForwardAgent", "LogLevel", "SendEnv", "Ciphers", "LocalForward", "EscapeChar"}
_OF_NO_WEIGHT |= {"PasswordAuthentication"}
_USUAL = 14
_CRITERIA = (
    "all", "final", "canonical", "host db1", "host *.example,!web.example", "originalhost db1", "user dba", "user root",
    "user dba,ops", "localuser root", "localuser nobody", "exec true", 'exec "false"', 'exec "test %h = 10.0.0.9"',
    "localnetwork 10.0.0.0/8", "tagged prod", "version OpenSSH_9*", "sessiontype shell", "command x", "host",
    "frobnicate x",
    "host=db1", "host = db1", "host 10.0.0.9", "originalhost DB1", 'host "db1"', "user",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """One case: the file, and what the inventory gives."""

    config: Path
    address: str
    user: str
    port: int | None
    jump: str | None


def made_from(seed: int, folder: Path) -> Asked:
    """Write a configuration, and those that it includes, into a new folder."""
    chance = random.Random(seed)
    folder.mkdir()
    inner = [folder / f"inner{number}" for number in range(chance.randint(0, 3))]
    faults = 0.03 if chance.random() < 0.4 else 0.0
    for file in inner:
        file.write_text(_text(chance, [], folder, faults, most=5), encoding="utf-8")
    config = folder / "config"
    config.write_text(_text(chance, inner, folder, faults, most=14), encoding="utf-8")
    return Asked(
        config,
        chance.choice(ADDRESSES),
        chance.choice(("", "", *_USERS)),
        chance.choice((None, None, 2299, 22)),
        chance.choice((None, None, None, None, "gate", "ops@gate:2022,inner", "none")),
    )


def _text(chance: random.Random, inner: list[Path], folder: Path, faults: float, *, most: int) -> str:
    lines = [_line(chance, inner, folder, faults) for _ in range(chance.randint(1, most))]
    end = chance.choice(("\n", "\n", "\n", "\r\n"))
    return end.join(lines) + chance.choice((end, ""))


def _line(chance: random.Random, inner: list[Path], folder: Path, faults: float) -> str:
    kind = chance.random()
    if kind < 0.05:
        return chance.choice(("", "# a remark", "   ", "\t# another", "\f"))
    if kind < 0.22:
        patterns = " ".join(chance.choice(_PATTERNS) for _ in range(chance.randint(1, 3)))
        return _written(chance, "Host", patterns)
    if kind < 0.34:
        return _written(chance, "Match", _condition(chance, faults))
    if kind < 0.42:
        named = [str(chance.choice(inner))] if inner else [f"{folder}/no-such*"]
        return _written(chance, "Include", " ".join([*named, *([f"{folder}/inner*"] if kind < 0.36 else [])]))
    name, values = chance.choice(_OPTIONS)
    rare = {"OddOption", "UseKeychain", "KnownHostsCommand", "VerifyHostKeyDNS"}
    if name in rare and chance.random() > max(faults * 2, 0.05):
        name, values = "User", _USERS
    value = chance.choice(values if chance.random() < faults * 3 else _likely(values))
    return f"{name} {value}" if name in _OF_NO_WEIGHT else _written(chance, name, value)


def _condition(chance: random.Random, faults: float) -> str:
    if chance.random() < faults * 3:
        return " ".join(chance.choice(_CRITERIA) for _ in range(chance.choice((1, 1, 2, 3))))
    if chance.random() < 0.2:
        return chance.choice(("all", "final all", "canonical all", "ALL", "!all", "host db1 all"))
    few = [chance.choice(_CRITERIA[1:_USUAL]) for _ in range(chance.choice((1, 1, 2, 3)))]
    return " ".join(chance.choice(("", "", "", "!")) + one if one != "final" else one for one in few)


def _likely(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values before the wrong ones: a file in which half the lines are wrong says nothing of the others."""
    wrong = {
        "",
        '""',
        "''",
        "0",
        "-1",
        "99999",
        "22x",
        "maybe",
        "x",
        "a b",
        "/one /two",
        "none /kh/a",
        "none x",
        "gate:0",
    }
    wrong |= {"gate:x", "-x", "@gate", "always", "ask", "accept-new", "off", "$1x", "/a/${NO_SUCH}", '"/keys/unclosed'}
    wrong |= {"9" * 12, "/a b", "10s10", "ssh://ops@gate:2022"}
    return tuple(value for value in values if value not in wrong) or values


def _written(chance: random.Random, name: str, value: str) -> str:
    name = chance.choice((name, name, name, name.lower(), name.upper(), f'"{name}"'))
    between = chance.choice((" ", " ", " ", "  ", "\t", "=", " = ", "= "))
    return (
        chance.choice(("", "  ", "\t", "    "))
        + name
        + between
        + value
        + chance.choice(("", "", "", " ", "\t", "  # why"))
    )
