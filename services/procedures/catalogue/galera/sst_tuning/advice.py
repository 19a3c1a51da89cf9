"""What the measurement means for this cluster: the road of an SST, the choice, and the settings to be written. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from services.facts.reading import count, size
from services.procedures.catalogue.checks.parts import galera_of
from services.procedures.catalogue.galera.sst_tuning import model
from services.procedures.catalogue.galera.sst_tuning.measuring import Measured, encrypts, measured
from services.procedures.catalogue.galera.sst_tuning.model import Forecast, Packer, Road
from services.procedures.conditions.galera.config.sst_section import Settings
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import bytes_of, flag_of, number_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.capability import Capability
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.server.variables import Variables

AUTO = "auto"
SHORTEST, GENTLE = "shortest", "gentle"
WRITTEN = ("compressor", "decompressor", "backup_threads", "use_memory", "rlimit", "time")
"""Every option of [sst] that this procedure may set, as the scripts read them."""
SPARE_MEMORY = 2**30
"""Must stay free beside use-memory while the joiner prepares (page sst-tuning, preflight)."""
LEAST_MEMORY = 128 * 2**20
_STEP = 64 * 2**20
TLS_CIPHER = "aes-256-gcm"
"""What TLS 1.3 takes where both sides can (openssl-ciphers(1ssl))."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What is known and what is chosen.

    Attributes:
        found: the measurement; road: what it means; packers: those measured on both ends.
        today, after: the forecast with the settings as they are (None: with a compressor that was not measured), and as
            they will be; rows: of every choice.
        settings: option and value for [sst] on every node; () where what would be replaced, the network or a
            disk is not known, and nobody asked for a compressor: nothing is set nor taken away on a guess.
        limited: the SST gets a share of the network by rlimit.
    """

    found: Measured
    road: Road
    packers: tuple[Packer, ...]
    today: Forecast | None
    after: Forecast
    rows: tuple[Forecast, ...]
    settings: Settings
    limited: bool


def advise(facts: Facts, values: Inputs, members: tuple[str, ...]) -> Advice | None:
    """Return the advice out of what the run kept; None where the size of the data was not measured."""
    donor, joiner = values["donor"], values["joiner"]
    found = measured(facts, donor, joiner)
    if found.donor is None or found.donor.data_bytes is None:
        return None
    limited = can_limit(facts, values, members)
    road = _road(facts, values, found, limited=limited)
    packers = _packers(found)
    chosen = _chosen(road, packers, values["compressor"])
    after = model.forecast(road, chosen, model.better_readers(road, chosen))
    now = program_now(facts.host(donor))
    known = now == model.NONE or now in {p.name for p in packers}
    today = model.forecast(road, next((p for p in packers if p.name == now), None)) if known else None
    use_memory = use_memory_of(facts, values, members, prepare_limits=after.prepare_limits)
    settings = _settings(facts.host(donor), after, use_memory, _limit_bytes(values, found) if limited else None)
    if values["compressor"] == AUTO and (not known or None in {road.net, road.read, road.write}):
        settings = ()
    return Advice(found, road, packers, today, after, model.table(road, packers), settings, limited)


def differing(facts: Facts, settings: Settings, members: tuple[str, ...]) -> Settings:
    """Return the settings that some node has not yet; () when there is nothing to write.

    That the scripts tell how long their stages take is set beside something else only.
    """
    found = tuple(
        (name, value)
        for name, value in settings
        if any(facts.host(member)[SstOptions].value(name) != value for member in members)
    )
    return found if {name for name, _ in found} - {"time"} else ()


def program_now(host: HostFacts) -> str:
    """Return the program that [sst] compresses with now, 'none' where it names none."""
    words = (host[SstOptions].value("compressor") or "").split()
    return words[0].rsplit("/", 1)[-1] if words else model.NONE


def can_limit(facts: Facts, values: Inputs, members: tuple[str, ...]) -> bool:
    """Return whether the transfer can be given a share of the network: wanted, and pv is on every node."""
    return values["goal"] == GENTLE and all("pv" in facts.host(member)[Tools].there for member in members)


# -- the road ----------------------------------------------------------------------------------------------------------


def _road(facts: Facts, values: Inputs, found: Measured, *, limited: bool) -> Road:
    host = facts.host(values["donor"])
    donor, joiner = found.donor, found.joiner
    assert donor is not None
    rates = host[WriteRate].rates
    net = found.road.rate if found.road is not None else None
    if net is not None and limited:
        net *= share_of(values, "network_share")
    elif net is not None and (set_now := _limit_now(host)) is not None:
        net = min(net, set_now)
    return Road(
        data_bytes=donor.data_bytes or 0,
        read=donor.read.rate if donor.read is not None else None,
        read_4=donor.read_4.rate if donor.read_4 is not None else None,
        net=net,
        write=joiner.write.rate if joiner is not None and joiner.write is not None else None,
        cores=host[Capability].cores or 1,
        cpu_share=share_of(values, "cpu_share"),
        dedicated=flag_of(values["dedicated"]) is True,
        cipher=_cipher(found) if encrypts(host) else None,
        parallel=count(host[SstOptions].value("backup_threads")) or 1,
        redo=rates.bytes_s if rates is not None else 0.0,
        writes=rates.seqno_s if rates is not None else 0.0,
        donor_load=host[Capability].load or 0.0,
        joiner_load=facts.host(values["joiner"])[Capability].load or 0.0,
        joiner_cores=facts.host(values["joiner"])[Capability].cores or 0,
    )


def share_of(values: Inputs, name: str) -> float:
    """Return a share that was typed in per cent, as a part of one."""
    return (number_of(values[name]) or 0) / 100


def _limit_now(host: HostFacts) -> float | None:
    """Return the rlimit that is in force: without pv the script leaves it out, silently."""
    given = size(host[SstOptions].value("rlimit") or "") if "pv" in host[Tools].there else None
    return float(given) if given else None


def _cipher(found: Measured) -> float | None:
    """Return bytes/s of the slower end: socat encrypts with one thread."""
    ends = [end.cipher(TLS_CIPHER) for end in (found.donor, found.joiner) if end is not None]
    known = [rate for rate in ends if rate is not None]
    return min(known) if len(known) == 2 else None


def _packers(found: Measured) -> tuple[Packer, ...]:
    """Return what was measured on both ends: the donor's rate of packing, the joiner's of unpacking."""
    if found.donor is None or found.joiner is None:
        return ()
    pairs = [(one, found.joiner.packer(one.name)) for one in found.donor.packers]
    return tuple(Packer(a.name, a.ratio, a.pack_rate, b.unpack_rate) for a, b in pairs if b is not None)


def _chosen(road: Road, packers: tuple[Packer, ...], asked: str) -> Packer | None:
    if asked == AUTO:
        return model.choose(road, packers)
    return next((p for p in packers if p.name == asked), None)


# -- settings ----------------------------------------------------------------------------------------------------------


def command_pair(packer: str, threads: int) -> tuple[str | None, str | None]:
    """Return the words of compressor and decompressor for [sst], (None, None) for none."""
    return {
        "zstd": (f"zstd -1 -T{threads}", "zstd -d"),
        "lz4": ("lz4 -1", "lz4 -d"),
        "pigz": (f"pigz -1 -p {threads}", "pigz -d"),
    }.get(packer, (None, None))


def _settings(donor: HostFacts, after: Forecast, use_memory: int | None, rlimit: int | None) -> Settings:
    compressor, decompressor = command_pair(after.packer, after.threads)
    found: list[tuple[str, str | None]] = [("compressor", compressor), ("decompressor", decompressor)]
    if after.parallel > 1 or donor[SstOptions].value("backup_threads") is not None:
        found.append(("backup_threads", str(after.parallel)))
    if use_memory is not None:
        found.append(("use_memory", f"{use_memory // 2**20}M"))
    if rlimit is not None:
        found.append(("rlimit", str(rlimit)))
    return (*found, ("time", "1"))


def _limit_bytes(values: Inputs, found: Measured) -> int | None:
    return int(found.road.rate * share_of(values, "network_share")) if found.road is not None else None


# -- memory ------------------------------------------------------------------------------------------------------------


def memory_for(host: HostFacts) -> int | None:
    """Return the bytes that are free while a node prepares an SST: what is free now, and what its server holds."""
    can = host[Capability]
    if can.memory_free is None or can.memory_server is None:
        return None
    return can.memory_free + can.memory_server


def pool_of(host: HostFacts) -> int | None:
    """Return the size of a node's buffer pool in bytes: what mariabackup prepares with where use-memory is not set."""
    return count(host[Variables].value("innodb_buffer_pool_size") or "")


def use_memory_of(facts: Facts, values: Inputs, members: tuple[str, ...], *, prepare_limits: bool) -> int | None:
    """Return use-memory in bytes for all nodes, None to leave it as it is.

    Half of the smallest node's memory, at most its buffer pool and what it has free but a gibibyte: where preparing
    takes long, or where the default (the buffer pool) does not fit some node.
    """
    if values["prepare_memory"]:
        return bytes_of(values["prepare_memory"])
    hosts = [facts.host(name) for name in members]
    if not prepare_limits and not any(too_large(host, pool_of(host)) for host in hosts):
        return None
    most = [
        min(half, pool, free - SPARE_MEMORY)
        for host in hosts
        if (half := (host[Capability].memory or 0) // 2)
        and (pool := pool_of(host)) is not None
        and (free := memory_for(host)) is not None
    ]
    wanted = min(most, default=0) // _STEP * _STEP
    return wanted if len(most) == len(hosts) and wanted >= LEAST_MEMORY else None


def too_large(host: HostFacts, wanted: int | None) -> bool:
    """Return whether a node is known to lack the memory for this and a gibibyte beside it."""
    free = memory_for(host)
    return wanted is not None and free is not None and free < wanted + SPARE_MEMORY


def appliers(host: HostFacts) -> tuple[int | None, int | None]:
    """Return applier threads as they are, and min(2 x cores, the mean distance of what may be applied at once)."""
    galera, cores = galera_of(host), host[Capability].cores
    if galera is None or cores is None or galera.deps_distance is None:
        return (galera.applier_threads if galera is not None else None), None
    return galera.applier_threads, max(1, min(2 * cores, int(galera.deps_distance)))
