"""~/.ssh/config as OpenSSH reads it: which host, port, user, keys and hops a name stands for (man ssh_config(5)).

The parser is paramiko's; what it lacks is done here: `Include`, ${VARIABLE} and %-tokens in file names, `none` values,
the system-wide file, several known_hosts files, and OpenSSH's defaults. What it asks of others meanwhile
(`Match exec`, CanonicalizeHostname) is config_asks.py's.
"""

from __future__ import annotations

import getpass
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import paramiko

from services.addresses import is_address, is_host_name_of_ssh, is_login, parse_hop
from services.connections.config_asks import SshConfigFile
from services.connections.ssh_target import SshTarget, named_after
from services.errors import BadInput
from services.files import read_bounded
from services.globs import Globs
from services.i18n import tr
from services.lines import lines_of

if TYPE_CHECKING:
    from services.inventory.model import SshAccess

SYSTEM_CONFIG = "/etc/ssh/ssh_config"
GLOBAL_KNOWN_HOSTS = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
USER_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
DEFAULT_IDENTITIES = ("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519")
MOST_INCLUDES = 16  # READCONF_MAX_DEPTH in OpenSSH's readconf.c
MOST_FILES = 200


def target_for(access: SshAccess, address: str) -> SshTarget:
    """Return how to reach the host `address` with the inventory's `access`; what the inventory says comes first."""
    config = read_config(access.config)
    port = access.port if access.port != 22 else None
    return _resolve(config, address, user=access.user or None, port=port, access=access)


def hop_for(access: SshAccess, hop: str) -> SshTarget:
    """Return how to reach one ProxyJump hop (`[user@]host[:port]` or an ssh:// URI).

    As in OpenSSH, the hop's own settings come from ssh_config. Where neither the hop nor ssh_config names a login, the
    host's own login is used (OpenSSH would take the local user's name, which on a DBA's laptop is seldom meant).
    """
    parsed = parse_hop(hop)
    if parsed is None:
        raise BadInput(tr('"{hop}" is not a jump host.', hop=hop), try_=(tr("Write it as user@host:port."),))
    user, address, port = parsed
    config = read_config(access.config)
    return _resolve(config, address, user=user or None, port=port, access=access, is_hop=True)


def read_config(path: str | None) -> SshConfigFile:
    """Return the parsed configuration: the given file, or ~/.ssh/config and the system's (None), or nothing ('')."""
    config = SshConfigFile()
    if path == "":
        return config
    globs = Globs()
    files = [Path(path).expanduser()] if path else [Path("~/.ssh/config").expanduser(), Path(SYSTEM_CONFIG)]
    for file in files:
        if path is None and not file.is_file():
            continue
        try:
            config.parse(_expanded(file, [], globs, depth=0))
        except OSError as problem:
            raise BadInput(
                tr("{file} can't be read ({problem}).", file=file, problem=problem.strerror or problem)
            ) from problem
        except (paramiko.ConfigParseError, ValueError) as problem:
            raise BadInput(tr("{file} is not a valid ssh_config: {problem}.", file=file, problem=problem)) from problem
    return config


def _expanded(file: Path, read: list[Path], globs: Globs, *, depth: int) -> list[str]:
    """Return the file's lines with Include replaced by what it names; the enclosing Host or Match then resumes.

    `read`: every file so far; an ssh_config that names too many, or the same ones without end, is refused, and so is
    one whose patterns look at too many names (`globs`).
    Relative names are relative to ~/.ssh for a user's file and to /etc/ssh for the system's; globs may match nothing.
    """
    if depth > MOST_INCLUDES:
        raise BadInput(tr("{file}: Include goes deeper than {n} files.", file=file, n=MOST_INCLUDES))
    if len(read) >= MOST_FILES:
        raise BadInput(tr("{file}: {word} names more than {n} files.", file=file, word="Include", n=MOST_FILES))
    read.append(file)
    block = "Host *"
    lines: list[str] = []
    for line in lines_of(read_bounded(file).decode("utf-8", "replace")):
        word, _, rest = re.sub(r"^\s*(\w+)\s*=?\s*", r"\1 ", line).partition(" ")
        if word.lower() in {"host", "match"}:
            block = line
        if word.lower() != "include":
            lines.append(line)
            continue
        base = Path("/etc/ssh") if file.is_relative_to("/etc/ssh") else Path("~/.ssh").expanduser()
        for pattern in shlex.split(rest, comments=True):
            for name in globs.matching(base / Path(_environment(pattern)).expanduser()):
                lines += _expanded(name, read, globs, depth=depth + 1)
                lines.append(block)
    return lines


def _resolve(
    config: SshConfigFile,
    address: str,
    *,
    user: str | None,
    port: int | None,
    access: SshAccess,
    is_hop: bool = False,
) -> SshTarget:
    if not is_address(address):  # before the lookup: `Match exec` runs a program with the address in its line
        raise BadInput(tr("'{address}' is no address.", address=address), safe=tr("Nobody was contacted."))
    try:
        found = config.lookup(address, jumps=bool(access.jump) and not is_hop)
    except (paramiko.SSHException, ValueError, KeyError) as problem:
        raise BadInput(
            tr('ssh_config has no usable answer for "{address}": {problem}.', address=address, problem=problem)
        ) from problem
    host = str(found.get("hostname", address))
    port = port or int(found.get("port", 22))
    user = user or found.get("user") or access.user or getpass.getuser()
    _only_names(address, host=host, user=user)
    alias = found.get("hostkeyalias")
    explicit = access.key if not is_hop else None
    return SshTarget(
        alias=address,
        host=host,
        port=port,
        user=user,
        key_name=alias or named_after(host, port),
        identity_files=_identities(found, access, explicit),
        explicit_key=explicit is not None,
        certificates=_certificates(found, access, is_hop=is_hop),
        identities_only=_yes(found, "identitiesonly"),
        use_agent=access.agent and found.get("identityagent", "").lower() != "none",
        agent_socket=_agent_socket(found),
        jumps=_jumps(found, access, is_hop=is_hop),
        proxy_command=_proxy_command(found, access, address=address, host=host, port=port, user=user),
        known_hosts=_known_hosts(found, access),
        global_known_hosts=_files(found, "globalknownhostsfile", GLOBAL_KNOWN_HOSTS),
        strict=_strict(found),
        hash_known_hosts=_yes(found, "hashknownhosts"),
        connect_timeout_s=_seconds(found, "connecttimeout"),
        alive_interval_s=_seconds(found, "serveraliveinterval"),
        alive_count=_count(found, "serveralivecountmax"),
    )


def _only_names(address: str, *, host: str, user: str) -> None:
    """Refuse what a program's line would read as more than a name, as OpenSSH does (ssh.c, "hostname contains …")."""
    for what, value, fine in (("HostName", host, is_host_name_of_ssh(host)), ("User", user, is_login(user))):
        if not fine:
            raise BadInput(
                tr("ssh_config's {what} for {address}, '{value}', has letters that a shell reads as more than a name.",
                   what=what, address=address, value=value),
                safe=tr("Nobody was contacted."),
            )  # fmt: skip


def _identities(found: paramiko.SSHConfigDict, access: SshAccess, explicit: str | None) -> tuple[str, ...]:
    """The key the person named stands alone; else ssh_config's in its order; else OpenSSH's default files.

    A hop also gets the host's own key behind ssh_config's: one key for bastion and hosts is the common estate.
    """
    if explicit:
        return (_path(explicit),)
    named = [name for name in found.get("identityfile", []) if name.lower() != "none"]
    if named or "identityfile" in found:
        return tuple(_path(name) for name in named)
    own = [access.key] if access.key else []
    return tuple(_path(name) for name in [*own, *DEFAULT_IDENTITIES])


def _certificates(found: paramiko.SSHConfigDict, access: SshAccess, *, is_hop: bool) -> tuple[str, ...]:
    named = [access.certificate] if access.certificate and not is_hop else []
    configured = found.get("certificatefile")
    if configured and configured.lower() != "none":
        named.append(configured)
    return tuple(_path(name) for name in named)


def _agent_socket(found: paramiko.SSHConfigDict) -> str:
    """IdentityAgent: a path, $VARIABLE, or SSH_AUTH_SOCK for the default."""
    text = found.get("identityagent", "")
    if text.lower() == "none" or text == "SSH_AUTH_SOCK":
        return ""
    if text.startswith("$") and not text.startswith("${"):
        return os.environ.get(text[1:], "")
    return _path(text) if text else ""


def _jumps(found: paramiko.SSHConfigDict, access: SshAccess, *, is_hop: bool) -> tuple[str, ...]:
    text = (access.jump if not is_hop else None) or found.get("proxyjump") or ""
    if text.lower() == "none":
        return ()
    return tuple(hop.strip() for hop in text.split(",") if hop.strip())


def _proxy_command(
    found: paramiko.SSHConfigDict, access: SshAccess, *, address: str, host: str, port: int, user: str
) -> str:
    """ProxyCommand with its tokens; a ProxyJump of the inventory's own replaces it."""
    text = found.get("proxycommand")
    if access.jump or not text:
        return ""
    tokens = {"%%": "%", "%h": host, "%n": address, "%p": str(port), "%r": user}
    # paramiko has put in what it knows; %n and %% are left. One pass, so that a value's own % stays.
    return re.sub(r"%[%hnpr]", lambda match: tokens[match[0]], text)


def _known_hosts(found: paramiko.SSHConfigDict, access: SshAccess) -> tuple[str, ...]:
    if access.known_hosts:
        return (_path(access.known_hosts),)
    return _files(found, "userknownhostsfile", USER_KNOWN_HOSTS)


def _files(found: paramiko.SSHConfigDict, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
    text = found.get(key)
    names = shlex.split(text) if text else list(default)
    return tuple(_path(name) for name in names if name.lower() != "none")


def _strict(found: paramiko.SSHConfigDict) -> str:
    text = found.get("stricthostkeychecking", "ask").lower()
    return {"yes": "yes", "true": "yes", "accept-new": "accept-new"}.get(text, "ask")


def _yes(found: paramiko.SSHConfigDict, key: str) -> bool:
    return str(found.get(key, "no")).lower() in {"yes", "true"}


def _seconds(found: paramiko.SSHConfigDict, key: str) -> float | None:
    """A time as in sshd_config(5), TIME FORMATS: seconds, or numbers with s, m, h, d, w."""
    text = str(found.get(key, "")).lower()
    if not text or text == "none":
        return None
    units = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
    parts = re.findall(r"(\d+)([smhdw]?)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise BadInput(tr('ssh_config: "{text}" is not a time for {key}.', text=text, key=key))
    return float(sum(int(number) * units[unit] for number, unit in parts)) or None


def _count(found: paramiko.SSHConfigDict, key: str) -> int | None:
    text = str(found.get(key, ""))
    return int(text) if text.isascii() and text.isdigit() else None


def _environment(text: str) -> str:
    """Put ${NAME} in; $NAME without braces is no variable to OpenSSH."""
    return re.sub(r"\$\{(\w+)\}", lambda match: os.environ.get(match[1], ""), text)


def _path(text: str) -> str:
    return str(Path(_environment(text).replace("%d", str(Path.home()))).expanduser())
