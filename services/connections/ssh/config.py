"""Which host, port, user, keys and hops a name stands for: the inventory's words, and ssh_config as OpenSSH reads it.

OpenSSH is asked itself (`ssh -G`, openssh/program.py) where its program is on this machine; openssh/reader.py reads the
files elsewhere. What guards there and can't be kept here is refused by its name.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from services.addresses import is_address, is_host_name_of_ssh, is_login, parse_hop
from services.connections.openssh.known_hosts_command import KnownHostsCommand
from services.connections.openssh.own_account import below_home, own_login
from services.connections.openssh.program import Question, ask_ssh, defaults_of, ssh_program
from services.connections.openssh.reader import ConfigFile, read_settings
from services.connections.openssh.settings import Settings
from services.connections.openssh.tokens import OF_A_PROGRAM, Tokens
from services.connections.openssh.treatment import ALGORITHMS, not_known, refused
from services.connections.ssh.target import SshTarget, named_after
from services.errors import BadInput
from services.i18n import mark, tr
from services.workstation.files import read_bounded

if TYPE_CHECKING:
    from services.inventory.model import SshAccess

GLOBAL_KNOWN_HOSTS = ("ssh_known_hosts", "ssh_known_hosts2")
USER_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
DEFAULT_IDENTITIES = tuple(f"~/.ssh/id_{kind}" for kind in ("rsa", "ecdsa", "ecdsa_sk", "ed25519", "ed25519_sk"))
_IN_BRACKETS = re.compile(r"\[([0-9.]+)\]")  # ssh -G writes an IPv4 address so
_KEEP_NOTHING = frozenset({"/dev/null", os.devnull.lower()})
_ADVICE = {
    "BindInterface": mark(
        "Use an address of the interface instead, which is supported: BindAddress 10.0.0.5 (ip address show)."
    ),
    "ProxyUseFdpass": mark(
        "Use a ProxyCommand that carries the connection itself, with ProxyUseFdpass no: nc %h %p, without -F."
    ),
    "VerifyHostKeyDNS": mark(
        "Accept the host's key after you verify it with the host's owner; known_hosts is read as usual."
    ),
}
"""What to try where a setting can't be followed."""
_OF_THE_WAY = frozenset({"BindInterface", "ProxyUseFdpass"})
"""They say how a host is reached, not whether it is the right one."""
_PROGRAM_DATA = "__PROGRAMDATA__"  # as Windows' own ssh writes the folder


def target_for(access: SshAccess, address: str) -> SshTarget:
    """Return how to reach the host `address` with the inventory's `access`; what the inventory says comes first."""
    question = Question(address, access.config, access.user or None, access.port, access.jump)
    return _resolve(question, access)


def hop_for(access: SshAccess, hop: str, *, before: str = "") -> SshTarget:
    """Return how to reach one ProxyJump hop (`[user@]host[:port]` or an ssh:// URI).

    As in OpenSSH, the hop's own settings come from ssh_config. Where neither the hop nor ssh_config names a login, the
    host's own login is used (OpenSSH would take the local user's name, which on a DBA's laptop is seldom meant).

    Args:
        before: the hops that lead to this one, divided by commas; its own ssh_config's are not gone through then.
    """
    parsed = parse_hop(hop)
    if parsed is None:
        raise BadInput(tr('"{hop}" is not a jump host.', hop=hop), try_=(tr("Write it as user@host:port."),))
    user, address, port = parsed
    asks = not user and bool(access.user)
    question = Question(address, access.config, user or None, port, before or None, asks_login=asks, is_hop=True)
    return _resolve(question, access)


def settings_for(question: Question) -> Settings:
    """Return what ssh_config says: the given file alone, or the person's and the system's (None), or nothing ('')."""
    if question.config == "":
        return _read([], question)
    if question.config is not None:
        path = below_home(question.config)
        _refuse_unreadable(path)
        question = replace(question, config=str(path))
    program = ssh_program()
    if program is not None:
        return _asked(program, question)
    if question.config is not None:
        return _read([ConfigFile(Path(question.config))], question)
    own, system = below_home("~/.ssh/config"), _system_folder() / "ssh_config"
    files = [ConfigFile(own, judged=True), ConfigFile(system, of_user=False)]
    return _read([file for file in files if file.path.is_file()], question)


def _asked(program: str, question: Question) -> Settings:
    """Ask ssh; lists of algorithms that are its own are left out. Raises BadInput for a setting nobody knows here."""
    found, own = ask_ssh(program, question), defaults_of(program)
    if (word := not_known(found, own)) is not None:
        raise _cannot_follow(word, question.address)
    same = frozenset(name for name in found.values if found.all(name) == own.all(name))
    found = replace(found, own=same, puts_in_revoked=own.puts_in_revoked)
    for name in ALGORITHMS & found.own:
        found = found.without(name)
    return found


def _read(files: list[ConfigFile], question: Question) -> Settings:
    return read_settings(files, question.address, user=question.user, port=question.port, jump=question.jump)


def _refuse_unreadable(file: Path) -> None:
    try:
        read_bounded(file)
    except OSError as problem:
        raise BadInput(
            tr("{file} cannot be read ({problem}).", file=file, problem=problem.strerror or problem)
        ) from problem


def _resolve(question: Question, access: SshAccess) -> SshTarget:
    address, is_hop = question.address, question.is_hop
    if not is_address(address):  # before the lookup: `Match exec` runs a program with the address in its line
        raise BadInput(tr("'{address}' is not an address.", address=address), safe=tr("No host was contacted."))
    found = settings_for(question)
    if question.asks_login and not found.has_user:
        question = replace(question, user=access.user, asks_login=False)
        found = settings_for(question)
    host, port = found.one("hostname", address), found.number("port") or 22
    user = question.user or found.one("user") or own_login()
    if not user:
        raise BadInput(
            tr("No user name for the login at {address}: the local account has no name.", address=address),
            safe=tr("No host was contacted."),
            try_=(tr("Set a user for the host."),),
        )
    _only_names(address, host=host, user=user)
    _refuse_guards(found, address)
    through = is_hop and question.jump is not None
    jumps = () if through else _jumps(found)
    alias = found.one("hostkeyalias")
    tokens = Tokens(address, host, port, user, alias, jumps[-1] if jumps else "")
    explicit = access.key if not is_hop else None
    interval = found.number("serveraliveinterval") or None
    return SshTarget(
        alias=address,
        host=host,
        port=port,
        user=user,
        key_name=alias or named_after(host, port),
        identity_files=_identities(found, access, explicit, tokens),
        explicit_key=explicit is not None,
        certificates=_certificates(found, access, tokens, is_hop=is_hop),
        identities_only=found.yes("identitiesonly"),
        use_agent=access.agent and found.one("identityagent").lower() != "none",
        agent_socket=_agent_socket(found, tokens),
        jumps=jumps,
        proxy_command="" if jumps or through else _proxy_command(found, tokens),
        known_hosts=_known_hosts(found, access, tokens),
        global_known_hosts=_global_known_hosts(found),
        known_hosts_command=_known_hosts_command(found, tokens),
        revoked_keys=_revoked_keys(found, tokens),
        host_key_algorithms=found.one("hostkeyalgorithms"),
        ciphers=found.one("ciphers"),
        macs=found.one("macs"),
        kex=found.one("kexalgorithms"),
        pubkey_algorithms=found.one("pubkeyacceptedalgorithms"),
        ca_algorithms=found.one("casignaturealgorithms"),
        offers_keys=_offers_keys(found),
        pkcs11_provider=_unless_none(found.one("pkcs11provider")),
        address_family=found.one("addressfamily", "any").lower(),
        bind_address=found.one("bindaddress"),
        required_rsa_bits=found.number("requiredrsasize") or 0,
        check_ip=found.yes("checkhostip"),
        strict=_strict(found),
        hash_known_hosts=found.yes("hashknownhosts"),
        connect_timeout_s=found.number("connecttimeout") or None,
        alive_interval_s=interval,
        alive_count=found.number("serveralivecountmax") if interval else None,
    )


def _only_names(address: str, *, host: str, user: str) -> None:
    """Refuse what a program's line would read as more than a name, as OpenSSH does (ssh.c, "hostname contains …")."""
    for what, value, fine in (("HostName", host, is_host_name_of_ssh(host)), ("User", user, is_login(user))):
        if not fine:
            raise BadInput(
                tr("{what} in ssh_config for {address}, '{value}', contains shell metacharacters.",
                   what=what, address=address, value=value),
                safe=tr("No host was contacted."),
            )  # fmt: skip


def _refuse_guards(found: Settings, address: str) -> None:
    """Refuse what decides in ssh whether a host is the right one, or how it is reached, and has no say here."""
    word = refused(found)
    if word is not None:
        raise _cannot_follow(word, address)


def _cannot_follow(word: str, address: str) -> BadInput:
    advice = _ADVICE.get(word)
    own_file = tr('Give this host a configuration file without it: config = "…" in its [host.ssh].')
    return BadInput(
        tr("ssh_config sets {word} for {address}, which Pilothouse does not support.", word=word, address=address),
        safe=tr("No host was contacted.")
        if word in _OF_THE_WAY
        else tr("No host was contacted: without the setting, a host that ssh refuses could be accepted."),
        try_=(tr(advice), own_file) if advice else (own_file,),
    )


def _identities(found: Settings, access: SshAccess, explicit: str | None, tokens: Tokens) -> tuple[str, ...]:
    """The key the person named stands alone; else ssh_config's in its order; else OpenSSH's default files.

    A hop also gets the host's own key behind ssh_config's: one key for bastion and hosts is the common estate.
    """
    if explicit:
        return (_path(explicit),)
    named = found.all("identityfile")
    are_default = not named or "identityfile" in found.own
    files = [tokens.path(name, "IdentityFile") for name in _but_none(named or DEFAULT_IDENTITIES)]
    own = [_path(access.key)] if access.key and are_default else []
    return tuple(dict.fromkeys([*own, *files]))


def _certificates(found: Settings, access: SshAccess, tokens: Tokens, *, is_hop: bool) -> tuple[str, ...]:
    named = [_path(access.certificate)] if access.certificate and not is_hop else []
    configured = [tokens.path(name, "CertificateFile") for name in _but_none(found.all("certificatefile"))]
    return tuple(dict.fromkeys([*named, *configured]))


def _agent_socket(found: Settings, tokens: Tokens) -> str:
    """IdentityAgent: a path, $VARIABLE, or SSH_AUTH_SOCK for the default."""
    text = found.one("identityagent")
    if text.lower() == "none" or text in {"", "SSH_AUTH_SOCK"}:
        return ""
    if text.startswith("$") and not text.startswith("${"):
        return os.environ.get(text[1:], "")
    return _expanded(text, "IdentityAgent", found, tokens)


def _jumps(found: Settings) -> tuple[str, ...]:
    bare = _IN_BRACKETS.sub(r"\1", found.one("proxyjump"))
    return tuple(hop.strip() for hop in bare.split(",") if hop.strip())


def _proxy_command(found: Settings, tokens: Tokens) -> str:
    text = found.one("proxycommand")
    return tokens.put_in(text, "ProxyCommand", only=OF_A_PROGRAM, environment=False)


def _known_hosts(found: Settings, access: SshAccess, tokens: Tokens) -> tuple[str, ...]:
    """Return the files, without those that know no host, whatever is written into them."""
    if access.known_hosts:
        files = [_path(access.known_hosts)]
    else:
        names = _but_none(found.all("userknownhostsfile") or USER_KNOWN_HOSTS)
        files = [_expanded(name, "UserKnownHostsFile", found, tokens) for name in names]
    return tuple(file for file in files if file.lower() not in _KEEP_NOTHING)


def _known_hosts_command(found: Settings, tokens: Tokens) -> KnownHostsCommand | None:
    line = _unless_none(found.one("knownhostscommand"))
    return KnownHostsCommand(line, tokens, found.one("fingerprinthash", "sha256").lower()) if line else None


def _revoked_keys(found: Settings, tokens: Tokens) -> tuple[str, ...]:
    names = _but_none(found.all("revokedhostkeys"))
    return tuple(str(Path(name)) if found.puts_in_revoked else tokens.path(name, "RevokedHostKeys") for name in names)


def _global_known_hosts(found: Settings) -> tuple[str, ...]:
    """GlobalKnownHostsFile takes no tokens and no '~'."""
    folder = _system_folder()
    named = found.all("globalknownhostsfile") or tuple(str(folder / name) for name in GLOBAL_KNOWN_HOSTS)
    data = os.environ.get("PROGRAMDATA", r"C:\ProgramData")
    return tuple(name.replace(_PROGRAM_DATA, data) for name in _but_none(named))


def _system_folder() -> Path:
    if os.name == "nt":
        return Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData"), "ssh")
    return Path("/etc/ssh")


def _strict(found: Settings) -> str:
    text = found.one("stricthostkeychecking", "ask").lower()
    return {"yes": "yes", "true": "yes", "accept-new": "accept-new"}.get(text, "ask")


def _offers_keys(found: Settings) -> bool:
    ways = found.one("preferredauthentications")
    return found.one("pubkeyauthentication", "yes").lower() not in {"no", "false"} and (
        not ways or "publickey" in ways.split(",")
    )


def _unless_none(text: str) -> str:
    return "" if text.lower() == "none" else text


def _but_none(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if name.lower() != "none"]


def _expanded(text: str, what: str, found: Settings, tokens: Tokens) -> str:
    """Return a file's name whose tokens ssh has put in already, but not so its older versions' '~'."""
    if found.is_expanded and not text.startswith("~"):
        return text
    return tokens.path(text, what)


def _path(text: str) -> str:
    """Return a path of the inventory: ${NAME}, %d and '~' stand for something; $NAME is no variable to OpenSSH."""
    named = re.sub(r"\$\{(\w+)\}", lambda match: os.environ.get(match[1], ""), text)
    return str(below_home(named.replace("%d", str(below_home("~")))))
