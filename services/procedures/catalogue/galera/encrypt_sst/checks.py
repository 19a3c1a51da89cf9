"""What has to be so before the first change: product, method, programs, certificates. Pure judgements of the facts."""

from __future__ import annotations

import re

from services.facts.transfer.certificates import PairSeen, days_of, faults_of
from services.procedures.catalogue.checks.parts import checked, galera_of, known, server_of, unread, verdict
from services.procedures.catalogue.galera.encrypt_sst.goal import FILES, MODE, SERVERS, Goal, host_time, server_user
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.links import group_address
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.galera.transfer_pairs import TransferPairs
from services.types import Flavour

ALIKE = ("encrypt", "ssl_mode", "streamfmt", "transferfmt", "compressor", "decompressor", "sockopt")
"""What donor and joiner must have alike."""
NOBODY = "no member answers"
_METHODS = frozenset({"mariabackup", "xtrabackup-v2"})
_PATH = re.compile(r"/[A-Za-z0-9/_.@+-]{1,255}")
"""What socat reads as a file's name, and nothing of its own."""
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}")
_OF_TLS = re.compile(r"(?:^|,)\s*(?:openssl-|verify|cert|key|cafile|capath|cipher|method|commonname|cn)\b")


def transfers(facts: Facts, members: tuple[str, ...]) -> Check:
    """The transfers go by a script that knows encrypt=4, by socat, and nothing in its options undoes it."""
    faults, seen = list[str](), list[str]()
    for host in known(facts, members):
        server, galera, part = server_of(host), galera_of(host), host[SstOptions]
        method = galera.sst_method if galera is not None else ""
        mode = part.value("encrypt") or "0"
        seen.append(f"{host.host}: {method or 'method not known'}, encrypt={mode}")
        if server is None or server.flavour is not Flavour.MARIADB:
            faults.append(
                f"{host.host} is no MariaDB: Percona XtraDB Cluster sets it by pxc_encrypt_cluster_traffic, "
                "which wants all nodes stopped at once; nothing of that was tried"
            )
        elif method not in _METHODS:
            faults.append(f"{host.host}: the method {method or 'of its transfers'} does not read encrypt=4")
        if (way := part.value("transferfmt") or "socat") != "socat":
            faults.append(f"{host.host}: transferfmt = {way} sends everything in plain text, whatever encrypt says")
        if _OF_TLS.search(part.value("sockopt") or ""):
            faults.append(f"{host.host}: sockopt changes how socat verifies")
    return checked(
        "SST-METHOD",
        "The transfers go by a script that knows encrypt=4",
        block=faults,
        evidence="; ".join(faults or seen) or NOBODY,
        why="rsync and mysqldump encrypt in other ways; netcat never does.",
        try_=("Set wsrep_sst_method=mariabackup and transferfmt=socat on all nodes first.",),
        to_read=True,
    )


def tls_programs(facts: Facts, members: tuple[str, ...]) -> tuple[Check, ...]:
    """socat of each node speaks TLS, and verifies the chain alone where it is told so."""
    return tuple(_programs(host) for host in known(facts, members))


def _programs(host: HostFacts) -> Check:
    part, faults = host[TransferPairs], list[str]()
    if part.speaks_tls is None or part.any_name is None:
        faults.append(unread(host, "what socat can do", "socat", "ssh"))
    elif not part.speaks_tls:
        faults.append(f"socat {part.socat} on {host.host} was built without OpenSSL")
    elif not part.any_name:
        faults.append(f"socat {part.socat} on {host.host} knows no commonname: it would ask for the host's name")
    if not _ADDRESS.fullmatch(group_address(host)):
        faults.append(
            f"{host.host} is reached by {group_address(host) or 'no address'}: only IPv4 and names were tried"
        )
    if not _USER.fullmatch(server_user(host)):
        faults.append(f"the account of {host.host}'s server has an odd name")
    return checked(
        "TLS-PROGRAMS",
        f"socat of {host.host} speaks TLS",
        each="socat of each node speaks TLS",
        block=faults,
        good=f"socat {part.socat} on {host.host}, with OpenSSL",
        why="The script ends the transfer where socat can't, when the joiner waits already.",
        try_=(f"Install a socat with OpenSSL on {host.host}.",),
        host=host.host,
    )


def pairs_there(facts: Facts, members: tuple[str, ...], goal: Goal, *, good: bool) -> tuple[Check, ...]:
    """The servers' own certificates would do, where they are to be used: on each node, and of one CA.

    Args:
        good: those in use are what is asked for: nothing is to do.
    """
    if goal.source != SERVERS:
        return (_to_come(facts, members, goal, good=good),)
    everyone = known(facts, members)
    return (*(_server_pair(facts, host) for host in everyone), _one_ca(everyone))


def _to_come(facts: Facts, members: tuple[str, ...], goal: Goal, *, good: bool) -> Check:
    """Tell what the pair in use is like: it is replaced, so that nothing that is wrong with it blocks."""
    told = []
    for host in known(facts, members):
        pair = host[TransferPairs].used
        if pair is None:
            continue
        faults = faults_of(pair, host_time(facts, host))
        told += [
            f"{host.host}: {fault.sentence}" for fault in faults if (host[SstOptions].value("encrypt") or "0") != "0"
        ]
    how = "read from this workstation's files by the first step" if goal.source == FILES else "made by Pilothouse"
    new = f"new ones are {how}, the same for all nodes"
    if good:
        ends = [p.ends - host_time(facts, h) for h in known(facts, members) if (p := h[TransferPairs].used) and p.ends]
        new = f"those in use are whole, of one CA, and valid for {days_of(min(ends, default=0.0))}"
    return Check(
        code="TLS-PAIR",
        title="Certificates for the transfers",
        verdict=verdict((), told),
        evidence="; ".join((new, *told)),
        why="One CA and one pair for all nodes is what the products recommend for encrypt=4.",
    )


def _server_pair(facts: Facts, host: HostFacts) -> Check:
    pair, blocks, warns = host[TransferPairs].own, list[str](), list[str]()
    if pair is None:
        blocks.append(f"{host.host}: ssl_ca, ssl_cert and ssl_key are not all set in [mysqld], or could not be read")
    else:
        for fault in faults_of(pair, host_time(facts, host)):
            (blocks if fault.blocks else warns).append(f"{host.host}: {fault.sentence}")
        blocks += [f"{host.host}: socat can't take the name {path}" for path in pair.paths if not _PATH.fullmatch(path)]
    return checked(
        "TLS-PAIR",
        f"The certificate of {host.host}'s server would do",
        each="The certificate of each node's server would do",
        block=blocks,
        warn=warns,
        good=_told(host, pair),
        why="A certificate that has run out, a key of another one, or a file that the server's user may not read ends "
        "every transfer, also the one by which a node comes back with an IST.",
        try_=("Mend the server's certificate, or let Pilothouse make new ones.",) if blocks else (),
        host=host.host,
    )


def _told(host: HostFacts, pair: PairSeen | None) -> str:
    return f"{host.host}: {pair.chain[0].name} of {pair.chain[0].issuer}" if pair is not None and pair.chain else ""


def _one_ca(everyone: tuple[HostFacts, ...]) -> Check:
    """All certificates lead to one CA, and each node's CA file has it: else donor and joiner refuse each other."""
    roots = {h.host: pair.roots for h in everyone if (pair := h[TransferPairs].own) is not None and pair.roots}
    names = {h.host: ca.name for h in everyone if (p := h[TransferPairs].own) for ca in p.cas if ca.digest in p.roots}
    differ = len(set(roots.values())) > 1 or len(roots) < len(everyone)
    told = ", ".join(f"{name}: {names.get(name, '')} ({found[0][:16]})" for name, found in roots.items())
    return checked(
        "ONE-CA",
        "The certificates of all nodes are of one CA",
        block=differ,
        evidence=f"{'they are not, or it is not known' if differ else 'one CA'}: {told or 'none read'}",
        why="Each side verifies the other by its own CA file: with two CAs they refuse each other.",
        try_=("Give all servers certificates of one CA, or let Pilothouse make a pair for the transfers.",),
    )


def replaced(facts: Facts, members: tuple[str, ...]) -> Check:
    """The modes 1 to 3 are found, and offered for replacement."""
    modes = {h.host: h[SstOptions].value("encrypt") or "0" for h in known(facts, members)}
    old = {name: mode for name, mode in modes.items() if mode not in {"0", MODE}}
    strange = {name: mode for name, mode in modes.items() if mode not in {"0", "1", "2", "3", MODE}}
    told = ", ".join(f"{name}: encrypt={mode}" for name, mode in modes.items())
    return checked(
        "SST-MODE",
        "The mode becomes encrypt=4",
        block=bool(strange),
        warn=bool(old),
        evidence=(told or NOBODY) + ("; it is replaced by encrypt=4" if old else ""),
        why="1 encrypts by a shared password, 2 and 3 do not verify both sides as 4 does; what only they read "
        "(encrypt_algo, encrypt_key) is left where it is.",
        try_=("Find out what this value is for.",) if strange else (),
        to_read=bool(old),
    )
