"""The first part: a bounded measurement of donor, joiner and the road between them, on approval. All pure.

Measuring is a load, so it is a step like any other (decision 0014); what it found makes the rest of the plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.addresses import is_ip
from services.connections.command import Command
from services.facts.transfer import sst_address
from services.facts.transfer.sst_measured import PACKERS, Amount, HostMeasured, parse_host, parse_road
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.shared.joiner_config import address_of
from services.procedures.catalogue.galera.sst_tuning.programs import HOST, ROAD
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.listener import Listener, open_for_a_trial, opened
from services.procedures.catalogue.steps.restored import data_folders
from services.procedures.catalogue.steps.server import plan_the_rest
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.machine.listening import Listening
from services.procedures.plan.actions import Detached
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.server.options import Options

SST_PORT = sst_address.SST_PORT
PARTS = 14
"""A host's measurement has at most so many parts, each bounded by itself: reads, compressors, ciphers, the write."""
FORECAST = "forecast"
LEAVES_NOTHING = "It leaves nothing behind: data read and sent go to /dev/null, and written data go to an unnamed file."


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the measurement may take at most.

    Attributes:
        seconds: of each part; road_mib: sent over the network; sample_mib: of data that are packed, and written.
        write: a sample is written to the joiner's data disk.
    """

    seconds: int
    road_mib: int
    sample_mib: int
    write: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What the first part found; None: that step kept nothing that can be read."""

    road: Amount | None
    donor: HostMeasured | None
    joiner: HostMeasured | None


def road_name(donor: str, joiner: str) -> str:
    """Return the name under which a run keeps how fast the road is."""
    return f"measured network path {donor} to {joiner}"


def host_name(host: str) -> str:
    """Return the name under which a run keeps what was measured on a host."""
    return f"measured on {host}"


def measured(facts: Facts, donor: str, joiner: str) -> Measured:
    """Return what the run kept."""
    return Measured(
        parse_road(facts.value(road_name(donor, joiner)) or ""),
        parse_host(facts.value(host_name(donor)) or ""),
        parse_host(facts.value(host_name(joiner)) or ""),
    )


def receives_at(host: HostFacts) -> tuple[str, int] | None:
    """Return where a joiner receives an SST: wsrep_sst_receive_address where it is set, else its own address.

    None where that is no plain address or name: it becomes a word of socat, which has a grammar of its own.
    """
    return sst_address.receives_at(host[Options].option("mysqld", "wsrep_sst_receive_address") or "", address_of(host))


def packers_at_both(facts: Facts, donor: str, joiner: str) -> tuple[str, ...]:
    """Return the compressors that are installed on both ends."""
    ends = [set(facts.host(name)[Tools].there) for name in (donor, joiner)]
    # gzip belongs to every system (Debian: essential), and is only shown beside the others.
    return tuple(name for name in PACKERS if name == "gzip" or all(name in there for there in ends))


def encrypts(host: HostFacts) -> bool:
    """Return whether an SST is encrypted, as its scripts read it: by openssl enc (1), by TLS (2 to 4)."""
    return (host[SstOptions].value("encrypt") or "0").strip() in {"1", "2", "3", "4"}


def measuring_steps(facts: Facts, donor: str, joiner: str, bounds: Bounds) -> tuple[Step, ...]:
    """Return the first part: the road, donor, joiner, and the forecast that the rest is planned from."""
    place = receives_at(facts.host(joiner))
    assert place is not None  # the faults refuse any other
    names = packers_at_both(facts, donor, joiner)
    sink = Listener(
        joiner,
        f"pilothouse-sst-sink-{SST_PORT}",
        bounds.seconds + 45,
        ("-u", listens(facts, donor, joiner, place), "OPEN:/dev/null"),
        "nobody",
    )
    held = open_for_a_trial(
        sink,
        key=f"sink:{joiner}",
        sentence=f"a test port open on {joiner}",
        danger="it leads to /dev/null and closes automatically within a minute",
    )
    return (
        held.on(_listen(facts, donor, place, sink), f"Close the test port of {joiner}"),
        _road(donor, joiner, place, bounds),
        held.off(f"unlisten-{joiner}", f"Close the test port of {joiner}", f"The test port of {joiner} is closed", 1.0),
        _host(facts.host(donor), bounds, names, write=False),
        _host(facts.host(joiner), bounds, names, write=bounds.write),
        plan_the_rest(
            FORECAST, f"Forecast the SST from {donor} to {joiner} for each choice", "known only after the measurement"
        ),
    )


def listens(facts: Facts, donor: str, joiner: str, place: tuple[str, int]) -> str:
    """Return socat's words for a port of the joiner that only its donor reaches, with three connections at most.

    Over a network of its own (wsrep_sst_receive_address) the donor's address is not known: it is bound there alone.
    """
    address, port = place
    listen = "TCP6-LISTEN" if address.startswith("[") else "TCP-LISTEN"
    words = f"{listen}:{port},reuseaddr,fork,max-children=3,bind={address}"
    source, own = address_of(facts.host(donor)), address_of(facts.host(joiner))
    if not is_ip(source) or address.strip("[]") != own:
        return words
    return f"{words},range={f'[{source}]/128' if ':' in source else f'{source}/32'}"


def _listen(facts: Facts, donor: str, place: tuple[str, int], sink: Listener) -> Step:
    (address, port), joiner = place, sink.host
    members = member_hosts(facts)
    return Step(
        step_id=f"listen-{joiner}",
        host=joiner,
        title=f"Open port {port} on {joiner} for a test: received data go to /dev/null",
        done=f"{donor} can connect to port {port} of {joiner}",
        why=f"Firewalls must allow the port of an SST. It closes automatically after {sink.seconds} s; "
        f"if {joiner} crashes meanwhile, its start finds the port in use and tries again.",
        action=opened(sink),
        before=(ClusterWhole(members, len(members) + arbitrators(facts), facts.cluster_id),),
        proof=(
            sink.runs,
            Listening(donor, address.strip("[]"), port),
        ),
        limit_s=30.0,
        repeatable=True,
        estimate_s=2.0,
    )


def _road(donor: str, joiner: str, place: tuple[str, int], bounds: Bounds) -> Step:
    address, port = place
    words = (address, str(port), str(bounds.seconds), str(bounds.road_mib))
    return Step(
        step_id=f"road-{donor}",
        host=donor,
        title=f"Send zeros from {donor} to {joiner}: at most {bounds.seconds} s and {bounds.road_mib} MiB",
        done=f"The network from {donor} to {joiner} was measured",
        why=f"For this time it uses the whole network between the two. {LEAVES_NOTHING}",
        action=Detached(
            Command(("bash", "-c", ROAD, "pilothouse", *words)),
            name=f"road-{donor}",
            keep=road_name(donor, joiner),
            pattern=r"^measured: (road=\S+)$",
        ),
        limit_s=bounds.seconds + 60.0,
        repeatable=True,
        estimate_s=float(bounds.seconds),
    )


def _host(host: HostFacts, bounds: Bounds, packers: tuple[str, ...], *, write: bool) -> Step:
    name = host.host
    words = (
        ".", str(bounds.seconds), str(bounds.sample_mib), "yes" if write else "no", "yes" if encrypts(host) else "no"
    )  # fmt: skip
    most = PARTS * bounds.seconds
    most_s = ("timeout", "-k", "5", str(most), "nice", "-n", "19")
    written = f", and write {bounds.sample_mib} MiB to its data disk" if write else ""
    return Step(
        step_id=f"measure-{name}",
        host=name,
        title=f"Measure {name}: read its largest file, compress {bounds.sample_mib} MiB of its data{written}",
        done=f"{name} was measured",
        why=f"At most {bounds.seconds} s for each part, at the lowest priority. {LEAVES_NOTHING}",
        action=Detached(
            data_folders.inside(host, *most_s, "bash", "-c", HOST, "pilothouse", *words, *packers),
            name=f"measure-{name}",
            keep=host_name(name),
            pattern=r"^measured: (data=.*)$",
        ),
        risk=Risk.CHANGES if write else Risk.READS,
        limit_s=most + 60.0,
        repeatable=True,
        estimate_s=20.0,
    )
