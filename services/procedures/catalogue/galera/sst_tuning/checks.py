"""The checks that only sst-tuning has, before it measures: method, both ends alike, tools, memory, joins. Pure."""

from __future__ import annotations

import posixpath

from services.facts.reading import flag
from services.procedures.catalogue.checks.parts import (
    checked,
    galera_of,
    known,
    listed,
    server_of,
    unread,
    verdict,
)
from services.procedures.catalogue.galera.sst_tuning.advice import pool_of, too_large
from services.procedures.catalogue.galera.sst_tuning.measuring import SST_PORT, Bounds
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import bytes_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.machine.capability import Capability
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.variables import Variables
from services.types import Flavour

METHOD = "mariabackup"
_UNPACKERS = {"zstd": {"zstd", "unzstd", "zstdcat"}, "pigz": {"pigz", "unpigz", "gzip", "gunzip", "zcat"},
              "gzip": {"pigz", "unpigz", "gzip", "gunzip", "zcat"}, "lz4": {"lz4", "unlz4", "lz4cat"}}  # fmt: skip
_ENCRYPTED = ("innodb_encrypt_tables", "innodb_encrypt_log")


def method(facts: Facts, members: tuple[str, ...]) -> Check:
    """The cluster is MariaDB's and its SST is mariabackup: of no other were the settings tried."""
    everyone = known(facts, members)
    other = [
        f"{h.host}: wsrep_sst_method is {g.sst_method}"
        for h in everyone
        if (g := galera_of(h)) is not None and g.sst_method and g.sst_method != METHOD
    ]
    other += [
        f"{h.host}: {s.flavour.value} {s.version}"
        for h in everyone
        if (s := server_of(h)) is not None and s.flavour not in {Flavour.MARIADB, Flavour.UNKNOWN}
    ]
    blind = [
        unread(h, "the SST method", "sql", "galera")
        for h in everyone
        if (g := galera_of(h)) is None or not g.sst_method
    ]
    return checked(
        "SST-METHOD",
        "The SST method is mariabackup",
        block=other,
        must_read=blind,
        good=f"{METHOD} on {listed(members)}",
        why="The settings were tested with MariaDB's mariabackup only; rsync has none of them and blocks its donor.",
        try_=("Use wsrep_sst_method = mariabackup.",),
    )


def compressor_pair(facts: Facts, members: tuple[str, ...]) -> Check:
    """Donor and joiner pack and unpack alike now: a mismatch fails a transfer with 'exit codes: 0 1', an IST too."""
    everyone = known(facts, members)
    seen = [h for h in everyone if h[SstOptions].known]
    blind = [unread(h, "the [sst] section", "sst-options", "ssh") for h in everyone if not h[SstOptions].known]
    used = {h.host: (h[SstOptions].value("compressor"), h[SstOptions].value("decompressor")) for h in seen}
    faults = [
        f"{name}: compressor {pack or 'not set'}, decompressor {unpack or 'not set'}"
        for name, (pack, unpack) in used.items()
        if not _fit(pack, unpack)
    ]
    if len(set(used.values())) > 1:
        faults.append("they differ: " + ", ".join(f"{n} {_pair_words(*pair)}" for n, pair in used.items()))
    compression = next((_pair_words(*pair) for pair in used.values()), "not known")
    return checked(
        "COMPRESSOR-MISMATCH",
        "Donor and joiner use the same compression",
        block=faults,
        must_read=blind,
        good=f"{compression} on {listed(members)}",
        why="If one side compresses and the other does not decompress, the joiner fails with 'exit codes: 0 1', even "
        "for an IST.",
        try_=("Set the same compressor and decompressor in [sst] on all nodes, then check again.",),
        absolute=bool(faults),
    )


def _pair_words(pack: str | None, unpack: str | None) -> str:
    return "no compression" if not pack and not unpack else f"{pack or 'no compressor'} / {unpack or 'no decompressor'}"


def _fit(pack: str | None, unpack: str | None) -> bool:
    """Return whether one unpacks what the other packs; programs that are not known are taken as they are."""
    if not pack or not unpack:
        return not pack and not unpack
    first, second = (posixpath.basename(words.split()[0]) for words in (pack, unpack))
    return second in _UNPACKERS[first] if first in _UNPACKERS else True


def tools(facts: Facts, hosts: tuple[str, ...], needed: tuple[str, ...], asked: str) -> Check:
    """These programs are on every one of these hosts.

    Args:
        asked: the compressor among them, '' for none: it is named in the advice.
    """
    everyone = known(facts, hosts)
    blind = [unread(h, "which programs are installed", "programs", "ssh") for h in everyone if not h[Tools].there]
    lacking = [
        f"{h.host} does not have {name}"
        for h in everyone
        if h[Tools].there
        for name in needed
        if name not in h[Tools].there
    ]
    try_ = ("Install them on every node" + (f", or choose a compressor other than {asked}." if asked else "."),)
    return checked(
        "TUNING-TOOLS",
        "Every node has the programs",
        block=lacking,
        must_read=blind,
        good=f"{listed(needed)} on {listed(hosts)}",
        why="If a program is missing on one side, a transfer fails with 'exit codes: 141 127 0' and half of the data "
        "replaced.",
        try_=try_,
        absolute=bool(lacking),
    )


def use_memory(facts: Facts, members: tuple[str, ...], values: Inputs) -> Check:
    """Every node has the memory that preparing takes, and a gibibyte: else the joiner is killed and starts anew."""
    wanted = bytes_of(values["prepare_memory"]) if values["prepare_memory"] else None
    everyone = known(facts, members)
    small = [f"{h.host} has {_memory(h)}" for h in everyone if too_large(h, wanted)] if wanted is not None else []
    by_default = [h for h in everyone if wanted is None and too_large(h, pool_of(h))]
    warns = [f"{h.host} has {_memory(h)}, its buffer pool is {(pool_of(h) or 0) / 1e9:.2f} GB" for h in by_default]
    blind = [
        unread(h, "the free memory", "meminfo", "server-memory", "ssh")
        for h in everyone
        if h[Capability].memory_free is None or h[Capability].memory_server is None
    ]
    asked = "the size of the buffer pool, the default" if wanted is None else f"{wanted / 1e9:.2f} GB"
    seen = "; ".join(f"{h.host}: {_memory(h)}" for h in everyone)
    return Check(
        code="USE-MEMORY",
        title="Each node has the memory to prepare an SST",
        verdict=verdict(small or (blind and wanted is not None), [*warns, *blind]),
        not_known=bool(blind) and not small and not warns,
        evidence="; ".join([f"for {asked}", *(small or warns), *blind] if small or warns or blind else [asked, seen]),
        why="If it uses more than the free memory, the kernel kills the joiner while it prepares, and it starts again "
        "from scratch.",
        try_=("Enter less, or leave the field empty to have it computed.",)
        if small or (blind and wanted is not None)
        else (),
    )


def _memory(host: HostFacts) -> str:
    can = host[Capability]
    if can.memory_free is None or can.memory_server is None:
        return "memory not known"
    return f"{can.memory_free / 1e9:.2f} GB free and {can.memory_server / 1e9:.2f} GB used by its server"


def tablespaces(facts: Facts, members: tuple[str, ...]) -> Check:
    """Pages that are encrypted don't pack: told before, measured after."""
    found = [
        f"{h.host}: {name} is {value}"
        for h in known(facts, members)
        for name in _ENCRYPTED
        if (value := h[Variables].value(name)) is not None and (flag(value) is True or value.upper() == "FORCE")
    ]
    blind = [unread(h, "whether pages are encrypted", "variables", "sql") for h in known(facts, members)
             if not h[Variables].values]  # fmt: skip
    return checked(
        "PAGES-ENCRYPTED",
        "The data pages can be compressed",
        warn=found,
        unread=blind,
        good=f"not encrypted by the server on {listed(members)}",
        why="Encrypted or compressed pages keep their size (a ratio of about 1): compressing them only costs time.",
    )


def packed_already(facts: Facts, members: tuple[str, ...], asked: str) -> Check:
    """mariabackup itself does not compress: two compressors, one in the other, gain nothing and break the joiner."""
    found = [
        f"{h.host}: compress = {value}"
        for h in known(facts, members)
        if (value := h[SstOptions].value("compress")) not in {None, "none"}
    ]
    return Check(
        code="COMPRESSED-TWICE",
        title="mariabackup itself compresses nothing",
        verdict=verdict(found if asked != "none" else (), found),
        evidence="; ".join(found) or f"not set on {listed(members)}",
        why="Files that mariabackup compresses are decompressed next to the data, and a further compressor gains "
        "nothing.",
        try_=("Remove compress from the option files, or choose no compressor.",) if found else (),
    )


def load(facts: Facts, values: Inputs, bounds: Bounds) -> Check:
    """What the measurement takes, and from whom: a person approves it."""
    donor, joiner = values["donor"], values["joiner"]
    sessions = {name: facts.host(name)[Sessions].clients for name in (donor, joiner)}
    busy = [f"{n} client session{'' if n == 1 else 's'} on {name}" for name, n in sessions.items() if n]
    blind = [unread(facts.host(n), "the process list", "processes", "sql") for n, s in sessions.items() if s is None]
    written = f", {bounds.sample_mib} MiB written to the data disk of {joiner}" if bounds.write else ""
    takes = (
        f"at most {bounds.seconds} s and {bounds.road_mib} MiB at full network speed from {donor} to {joiner}, "
        f"{4 * bounds.sample_mib} MiB read twice without the cache, one core of each at the lowest priority{written}"
    )
    return checked(
        "MEASURING-LOAD",
        "The measurement is a load",
        warn=busy,
        unread=blind,
        evidence="; ".join([takes, *busy, *blind]),
        why="The group's own traffic uses the same network: clusters became unstable when an SST used all of it.",
        try_=("Measure at a quiet time, or with smaller limits.",),
        to_read=True,
    )


def receives(facts: Facts, joiner: str) -> Check:
    """Tell where the joiner receives: a separate network is measured as it is used."""
    given = facts.host(joiner)[Options].option("mysqld", "wsrep_sst_receive_address") or ""
    return Check(
        code="RECEIVE-ADDRESS",
        title=f"The address where {joiner} receives an SST",
        verdict=verdict(()),
        evidence=f"wsrep_sst_receive_address: {given or f'not set, its own address, port {SST_PORT}'}",
        why="An SST on the network of the group's own traffic slows it down; a separate network avoids this.",
        host=joiner,
    )
