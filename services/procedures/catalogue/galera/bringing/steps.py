"""The steps that bring a backup to the node, and the one that removes it when the run ends. All pure.

A CA and a pair are made for this one run, in memory; both ends have that pair and verify each other by that CA, whose
key is dropped: nobody else can send, or receive. They are removed as soon as the backup is there, and on every way out.
The receiving program runs as root in a unit that may write into the run's own folder alone (systemd.exec(5),
ProtectSystem=strict, ReadWritePaths=): a stream's file names come from the other host.
"""

from __future__ import annotations

import math
import posixpath
from dataclasses import dataclass, replace

from services.connections.command import Command
from services.facts.sst_address import SST_PORT
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.add_node.joiner_config import address_of
from services.procedures.catalogue.galera.bringing import programs
from services.procedures.catalogue.galera.bringing.checks import RATE_BYTES_S
from services.procedures.catalogue.galera.bringing.way import CHUNK, NOW, Way
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.listener import Listener, open_for_a_trial
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.catalogue.steps.watches import flow_control
from services.procedures.conditions.galera.whole import ClusterWhole
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.machine.listening import Listening
from services.procedures.conditions.machine.root_owns import RootOwns
from services.procedures.conditions.machine.unit import UnitFresh
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached, HostPair, MadePair, PutPair, RemoveFile, Run, Several
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Step, WatchRule
from services.procedures.plan.parts.machine.volumes import Volumes

LIMIT_S = 86_400
LEAST_FREE = 2**29
TOOL = "mariadb-backup"
_PAIR_DAYS = 2
_PEM = ("ca.pem", "cert.pem", "key.pem")


@dataclass(frozen=True, slots=True)
class Receiver(Listener):
    """The node's end: a transient unit that takes one stream after another, and ends by itself."""

    place: str = ""
    kind: str = NOW

    @property
    def opening(self) -> Run:
        """Return the act that opens it. systemd-run would take a `$` for a variable's."""
        told = ("bash", "-c", programs.RECEIVE, "pilothouse", self.place, *self.words, self.kind, programs.UNPACK)
        kept = ("ProtectSystem=strict", f"ReadWritePaths={self.place}", "PrivateTmp=yes", "NoNewPrivileges=yes",
                f"RuntimeMaxSec={self.seconds}")  # fmt: skip
        unit = (
            f"--unit={self.name}",
            "--collect",
            f"--description={self.description}",
            *(f"--property={one}" for one in kept),
        )
        return Run(Command(("systemd-run", *unit, "--", *(word.replace("$", "$$") for word in told)), sudo=True))


def bringing_steps(facts: Facts, way: Way, size: int | None) -> tuple[Step, ...]:
    """Return the first part: folders and certificates, the node's end, the stream, what came proven, all closed."""
    held, sender, receiver = _brought(way), _place_of_sender(way), _receiver(facts, way)
    pair = _pair_of(way.joiner, way)
    port = open_for_a_trial(
        receiver,
        key=f"receiver:{way.joiner}",
        sentence=f"a port for one backup open on {way.joiner}",
        danger=f"only who has this run's certificate gets in; it closes by itself within {LIMIT_S // 3600} h",
    )
    return (
        sender.on(_folder(facts.host(way.source), way, "certificate"), f"Remove {way.place} from {way.source}"),
        held.on(_folder(facts.host(way.joiner), way, "backup"), f"Remove what was brought to {way.joiner}", 600.0),
        pair.on(_made(way), f"Remove the certificate from {way.joiner}"),
        _copied(way),
        port.on(_open(facts, way, receiver), f"Close the port of {way.joiner}"),
        _sent(facts, way, size),
        _came(way, size),
        port.off(f"unreceive-{way.joiner}", f"Close port {SST_PORT} of {way.joiner}",
                 f"Port {SST_PORT} of {way.joiner} is closed", 1.0),
        pair.off(f"unpair-{way.joiner}", f"Remove the certificate from {way.joiner}",
                 f"The certificate is gone from {way.joiner}", 1.0),
        sender.off(f"unpair-{way.source}", f"Remove {way.place} from {way.source}",
                   f"Nothing of the run is left on {way.source}", 1.0),
    )  # fmt: skip


def with_removal(rest: tuple[Step, ...], way: Way) -> tuple[Step, ...]:
    """Return the steps of the rest with the one that removes what was brought, before the last proof of the whole."""
    off = replace(
        _brought(way).off(f"clear-brought-{way.joiner}", f"Remove what was brought to {way.joiner}",
                          f"What was brought to {way.joiner} is gone", 5.0), limit_s=600.0,
    )  # fmt: skip
    at = next((n for n, step in enumerate(rest) if step.step_id == f"settle-{way.joiner}"), len(rest))
    return (*rest[:at], off, *rest[at:])


def bringing_watches(facts: Facts, way: Way) -> tuple[WatchRule, ...]:
    """Return what is watched while it comes: room on the node, and that the cluster's writes go on."""
    send, volume = f"send-{way.source}", facts.host(way.joiner)[Volumes].of(way.place)
    others = [name for name in member_hosts(facts) if name != way.joiner]
    room = WatchRule(
        code="DISK-BROUGHT",
        condition=FreeDisk(way.joiner, volume.mount if volume is not None else "/", LEAST_FREE),
        sentence=f"The volume of what is brought to {way.joiner} is nearly full.",
        from_step=send,
        to_step=send,
        every_s=10.0,
    )
    return (room, *((flow_control(others[0], way.source, send, send, "BRING-"),) if others else ()))


# -- folders and certificates ------------------------------------------------------------------------------------------


def _brought(way: Way) -> Temporary:
    return _place(way, way.joiner, f"brought:{way.joiner}", f"a backup that was brought to {way.joiner}",
                  f"it takes room in {way.place}")  # fmt: skip


def _place_of_sender(way: Way) -> Temporary:
    return _place(way, way.source, f"sender:{way.source}", f"a certificate of this run on {way.source}",
                  f"with it somebody could send to {way.joiner} while its port is open")  # fmt: skip


def _place(way: Way, host: str, key: str, sentence: str, danger: str) -> Temporary:
    return Temporary(
        key=key,
        host=host,
        sentence=sentence,
        danger=danger,
        release=_program(programs.CLEAR_PLACE, way.place),
        released=(FileAbsent(host, way.place),),
    )


def _folder(host: HostFacts, way: Way, what: str) -> Step:
    return Step(
        step_id=f"place-{host.host}",
        host=host.host,
        title=f"Make an empty folder for the {what} on {host.host}: {way.place}",
        done=f"{host.host} has an empty folder for the {what}",
        why="Only root enters it. What an earlier run left there is removed by its mark; anything else is an error.",
        action=_program(programs.MAKE_PLACE, way.place),
        proof=(RootOwns(host.host, posixpath.join(way.place, programs.MARK)),),
        repeatable=True,
        estimate_s=1.0,
    )


def _files(way: Way) -> tuple[str, str, str]:
    ca, cert, key = (posixpath.join(way.place, name) for name in _PEM)
    return ca, cert, key


def _pair_of(host: str, way: Way) -> Temporary:
    files = _files(way)
    return Temporary(
        key=f"pair:{host}",
        host=host,
        sentence=f"a certificate of this run on {host}",
        danger=f"with it somebody could send to {way.joiner} while its port is open",
        release=Several(tuple(RemoveFile(path) for path in reversed(files))),
        released=tuple(FileAbsent(host, path) for path in files),
    )


def _made(way: Way) -> Step:
    name = way.joiner
    return replace(
        _put(name, PutPair(*_files(way), MadePair("Pilothouse bring", _PAIR_DAYS), "root", "root")),
        title=f"Make a CA and a certificate for this one transfer, and put them on {name}",
        why="The CA's key is dropped: nobody but the two ends can take part.",
    )


def _copied(way: Way) -> Step:
    return replace(
        _put(way.source, PutPair(*_files(way), HostPair(way.joiner), "root", "root")),
        title=f"Copy the certificate and its key from {way.joiner} to {way.source}",
        why="They go through this console, by standard input, and stand on no command line. They go with the folder.",
        goes_with=f"place-{way.source}",
    )


def _put(name: str, action: PutPair) -> Step:
    return Step(
        step_id=f"pair-{name}",
        host=name,
        title="",
        done=f"{name} has the certificate of this transfer",
        action=action,
        before=(FileAbsent(name, action.cert),),  # written last
        proof=(RootOwns(name, action.cert),),
        limit_s=60.0,
        repeatable=True,
        estimate_s=2.0,
    )


# -- the two ends ------------------------------------------------------------------------------------------------------


def _address(facts: Facts, way: Way) -> str:
    address = address_of(facts.host(way.joiner))
    return f"[{address}]" if ":" in address else address


def _receiver(facts: Facts, way: Way) -> Receiver:
    ca, cert, key = _files(way)
    address = _address(facts, way)
    family = ",pf=ip6" if address.startswith("[") else ""
    words = (
        f"openssl-listen:{SST_PORT}{family},reuseaddr,bind={address},cert={cert},key={key},cafile={ca},commonname=,"
        "keepalive"
    )
    told = f"Pilothouse receives a backup in {way.place}"
    return Receiver(
        way.joiner, f"pilothouse-bring-{SST_PORT}", LIMIT_S, (words,), description=told, place=way.place, kind=way.kind
    )


def _open(facts: Facts, way: Way, receiver: Receiver) -> Step:
    name, address = way.joiner, _address(facts, way).strip("[]")
    return Step(
        step_id=f"receive-{name}",
        host=name,
        title=f"Open port {SST_PORT} on {name} for the backup, and unpack what comes into {way.place}",
        done=f"{way.source} reaches port {SST_PORT} of {name}",
        why="TLS, and only with this run's certificate. It works on without this console, and may write into that one "
        "folder alone.",
        action=Several((receiver.closing, receiver.opening)),
        before=(Stopped(name, steps.unit_of(facts.host(name))),),
        proof=(
            UnitFresh(name, receiver.unit, receiver.description, float(LIMIT_S)),
            Listening(way.source, address, SST_PORT),
        ),
        limit_s=30.0,
        repeatable=True,
        estimate_s=2.0,
    )


def _sent(facts: Facts, way: Way, size: int | None) -> Step:
    now, source, rate = way.kind == NOW, way.source, way.rate or RATE_BYTES_S
    members = tuple(name for name in member_hosts(facts) if name != way.joiner)
    to = f"{_address(facts, way)}:{SST_PORT}"
    bound = (f"--throttle={max(1, math.floor(way.rate / CHUNK))}",) if way.rate else ()
    words = (TOOL, "--backup", "--stream=mbstream", "--galera-info", *bound) if now else (str(way.rate), *way.folders)
    program, pattern = (programs.SEND_NOW, programs.SENT_NOW) if now else (programs.SEND_HOST, programs.SENT_HOST)
    what = "a full backup, made now" if now else f"{len(way.folders)} folders of a backup"
    return Step(
        step_id=f"send-{source}",
        host=source,
        title=f"Send {what}, from {source} to {way.joiner}",
        done=f"{source} has sent {what} to {way.joiner}",
        why="It works on without this console. What breaks off is begun again from its start, in an empty folder: "
        "nothing of it is ever used."
        + (" The tool logs in as root by the server's socket, or as root's own option files say." if now else ""),
        action=Detached(
            Command(("bash", "-c", program, "pilothouse", way.place, to, *words), sudo=True),
            name=f"send-{source}", keep=f"sent-{source}", pattern=pattern,
            grows=way.place, total=size or 0, grows_on=way.joiner,
        ),
        before=(ClusterWhole(members, len(members) + arbitrators(facts), facts.cluster_id),),
        limit_s=float(LIMIT_S),
        repeatable=True,
        goes_with=f"place-{way.joiner}",
        estimate_s=None if size is None else 5.0 + size / rate,
    )  # fmt: skip


def _came(way: Way, size: int | None) -> Step:
    name = way.joiner
    proven = "it is a whole full backup" if way.kind == NOW else "each file has the digest that it had on its host"
    return Step(
        step_id=f"came-{name}",
        host=name,
        title=f"Prove that what came to {name} is what was sent: {proven}",
        done=f"The backup lies in {', '.join(way.paths)} on {name}",
        why="What is not proven gets no name, and is never used. It goes with the folder that the run made.",
        action=Detached(
            Command(("bash", "-c", programs.TAKE_IN, "pilothouse", way.place, way.kind, *way.names), sudo=True),
            name=f"came-{name}", keep=f"came-{name}", pattern=programs.CAME,
        ),
        limit_s=float(LIMIT_S),
        repeatable=True,
        goes_with=f"place-{name}",
        estimate_s=1.0 + (0.0 if way.kind == NOW else (size or 0) / RATE_BYTES_S),
    )  # fmt: skip


def _program(text: str, *words: str) -> Run:
    return Run(Command(("bash", "-c", text, "pilothouse", *words), sudo=True))
