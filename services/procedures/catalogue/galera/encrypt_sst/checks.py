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
    """The SST script supports encrypt=4, by socat, and nothing in its options undoes it."""
    faults, seen = list[str](), list[str]()
    for host in known(facts, members):
        server, galera, part = server_of(host), galera_of(host), host[SstOptions]
        method = galera.sst_method if galera is not None else ""
        mode = part.value("encrypt") or "0"
        seen.append(f"{host.host}: {method or 'method not known'}, encrypt={mode}")
        if server is None or server.flavour is not Flavour.MARIADB:
            faults.append(
                f"{host.host} is not MariaDB: Percona XtraDB Cluster uses pxc_encrypt_cluster_traffic, "
                "which requires all nodes to be stopped at once; this was not tested"
            )
        elif method not in _METHODS:
            faults.append(f"{host.host}: the method {method or 'of its transfers'} does not read encrypt=4")
        if (way := part.value("transferfmt") or "socat") != "socat":
            faults.append(f"{host.host}: transferfmt = {way} sends everything unencrypted, regardless of encrypt")
        if _OF_TLS.search(part.value("sockopt") or ""):
            faults.append(f"{host.host}: sockopt changes how socat verifies")
    return checked(
        "SST-METHOD",
        "The SST script supports encrypt=4",
        block=faults,
        evidence="; ".join(faults or seen) or NOBODY,
        why="rsync and mysqldump use other encryption; netcat uses none.",
        try_=("Set wsrep_sst_method=mariabackup and transferfmt=socat on all nodes first.",),
        to_read=True,
    )


def tls_programs(facts: Facts, members: tuple[str, ...]) -> tuple[Check, ...]:
    """socat of each node supports TLS, and verifies the chain alone where it is told so."""
    return tuple(_programs(host) for host in known(facts, members))


def _programs(host: HostFacts) -> Check:
    part, faults = host[TransferPairs], list[str]()
    if part.speaks_tls is None or part.any_name is None:
        faults.append(unread(host, "the features of socat", "socat", "ssh"))
    elif not part.speaks_tls:
        faults.append(f"socat {part.socat} on {host.host} was built without OpenSSL")
    elif not part.any_name:
        faults.append(f"socat {part.socat} on {host.host} does not support commonname: it would verify the host name")
    if not _ADDRESS.fullmatch(group_address(host)):
        faults.append(
            f"{host.host} is reached by {group_address(host) or 'no address'}: only IPv4 and names were tested"
        )
    if not _USER.fullmatch(server_user(host)):
        faults.append(f"the account of the server on {host.host} has an unsupported name")
    return checked(
        "TLS-PROGRAMS",
        f"socat of {host.host} supports TLS",
        each="socat of each node supports TLS",
        block=faults,
        good=f"socat {part.socat} on {host.host}, with OpenSSL",
        why="Without it the script ends the transfer after the joiner has begun to wait.",
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
    warnings = []
    for host in known(facts, members):
        pair = host[TransferPairs].used
        if pair is None:
            continue
        faults = faults_of(pair, host_time(facts, host))
        warnings += [
            f"{host.host}: {fault.sentence}" for fault in faults if (host[SstOptions].value("encrypt") or "0") != "0"
        ]
    how = "read from this workstation's files by the first step" if goal.source == FILES else "made by Pilothouse"
    new = f"new ones are {how}, the same for all nodes"
    if good:
        ends = [p.ends - host_time(facts, h) for h in known(facts, members) if (p := h[TransferPairs].used) and p.ends]
        new = f"those in use are complete, from one CA, and valid for {days_of(min(ends, default=0.0))}"
    return Check(
        code="TLS-PAIR",
        title="Certificates for the transfers",
        verdict=verdict((), warnings),
        evidence="; ".join((new, *warnings)),
        why="For encrypt=4 the vendors recommend one CA and one pair for all nodes.",
    )


def _server_pair(facts: Facts, host: HostFacts) -> Check:
    pair, blocks, warns = host[TransferPairs].own, list[str](), list[str]()
    if pair is None:
        blocks.append(f"{host.host}: ssl_ca, ssl_cert and ssl_key are not all set in [mysqld], or could not be read")
    else:
        for fault in faults_of(pair, host_time(facts, host)):
            (blocks if fault.blocks else warns).append(f"{host.host}: {fault.sentence}")
        blocks += [
            f"{host.host}: socat does not support the name {path}" for path in pair.paths if not _PATH.fullmatch(path)
        ]
    return checked(
        "TLS-PAIR",
        f"The server certificate of {host.host} can be used",
        each="The server certificate of each node can be used",
        block=blocks,
        warn=warns,
        good=_told(host, pair),
        why="With an expired certificate, a key that does not match, or a file that the server's user cannot read, "
        "every transfer fails, including those for an IST.",
        try_=("Repair the server's certificate, or let Pilothouse create new ones.",) if blocks else (),
        host=host.host,
    )


def _told(host: HostFacts, pair: PairSeen | None) -> str:
    return f"{host.host}: {pair.chain[0].name} of {pair.chain[0].issuer}" if pair is not None and pair.chain else ""


def _one_ca(everyone: tuple[HostFacts, ...]) -> Check:
    """All certificates lead to one CA, and each node's CA file has it: else donor and joiner refuse each other."""
    roots = {h.host: pair.roots for h in everyone if (pair := h[TransferPairs].own) is not None and pair.roots}
    names = {h.host: ca.name for h in everyone if (p := h[TransferPairs].own) for ca in p.cas if ca.digest in p.roots}
    differ = len(set(roots.values())) > 1 or len(roots) < len(everyone)
    authorities = ", ".join(f"{name}: {names.get(name, '')} ({found[0][:16]})" for name, found in roots.items())
    return checked(
        "ONE-CA",
        "The certificates of all nodes are from one CA",
        block=differ,
        evidence=f"{'different, or not known' if differ else 'one CA'}: {authorities or 'none read'}",
        why="Each side verifies the other by its own CA file: with two CAs they refuse each other.",
        try_=("Give all servers certificates from one CA, or let Pilothouse create a pair for the transfers.",),
    )


def replaced(facts: Facts, members: tuple[str, ...]) -> Check:
    """The modes 1 to 3 are found, and offered for replacement."""
    modes = {h.host: h[SstOptions].value("encrypt") or "0" for h in known(facts, members)}
    old = {name: mode for name, mode in modes.items() if mode not in {"0", MODE}}
    strange = {name: mode for name, mode in modes.items() if mode not in {"0", "1", "2", "3", MODE}}
    evidence = ", ".join(f"{name}: encrypt={mode}" for name, mode in modes.items())
    return checked(
        "SST-MODE",
        "The mode becomes encrypt=4",
        block=bool(strange),
        warn=bool(old),
        evidence=(evidence or NOBODY) + ("; this run replaces it by encrypt=4" if old else ""),
        why="Mode 1 encrypts with a shared password, 2 and 3 do not verify both sides as 4 does; their own options "
        "(encrypt_algo, encrypt_key) are not removed.",
        try_=("Find out the purpose of this value.",) if strange else (),
        to_read=bool(old),
    )
