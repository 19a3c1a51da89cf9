"""Steps that prove the encryption while nobody may join: TLS between every two nodes, foreign certificates refused."""

from __future__ import annotations

import posixpath

from services.connections.command import Command
from services.procedures.catalogue.galera.encrypt_sst.goal import Goal, server_group, server_user
from services.procedures.catalogue.galera.encrypt_sst.programs import FOREIGN, PORT, TRY
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.machine.unit import UnitFresh, UnitSetting
from services.procedures.plan.actions import MadePair, PutPair, RemoveFile, Run, Several
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.galera.links import group_address

LISTEN_S = 600
"""The listeners end by themselves then."""
FOREIGN_FOLDER = "/run/pilothouse-foreign"
_FOREIGN = tuple(f"{FOREIGN_FOLDER}/{what}.pem" for what in ("ca", "cert", "key"))


def proof_steps(facts: Facts, members: tuple[str, ...], goal: Goal) -> tuple[Step, ...]:
    """Return the steps: listeners on all, every ordered pair tried, foreign certificates tried, listeners closed."""
    everyone = tuple(facts.host(name) for name in members)
    opened = tuple(_listening(host, goal, facts.cluster_id) for host in everyone)
    foreign = _foreign(everyone[0])
    return (
        *(_listen(host, temporary, goal, facts.cluster_id) for host, temporary in zip(everyone, opened, strict=True)),
        *(_tried(host, _others(everyone, host), goal) for host in everyone),
        _foreign_on(everyone[0], foreign),
        _refused(everyone[0], _others(everyone, everyone[0]), goal),
        foreign.off("foreign-off", foreign_off(everyone[0]), "The foreign certificate is gone", 1.0),
        *(
            temporary.off(f"unlisten-{host.host}", _close(host), f"Port {PORT} of {host.host} is closed again", 1.0)
            for host, temporary in zip(everyone, opened, strict=True)
        ),
    )


def _others(everyone: tuple[HostFacts, ...], host: HostFacts) -> tuple[HostFacts, ...]:
    """Return the others; a node that is alone is tried with itself."""
    return tuple(one for one in everyone if one.host != host.host) or (host,)


# -- listeners ---------------------------------------------------------------------------------------------------------


def _unit(cluster_id: str) -> str:
    return f"pilothouse-tls-{cluster_id[:8]}"


def _described(paths: tuple[str, str, str]) -> str:
    return f"Pilothouse tries TLS with {paths[1]}"


def _listening(host: HostFacts, goal: Goal, cluster_id: str) -> Temporary:
    del goal
    unit = f"{_unit(cluster_id)}.service"
    return Temporary(
        key=f"listen:{host.host}",
        host=host.host,
        sentence=f"port {PORT} of {host.host} answers for a test",
        danger=f"a joiner on {host.host} would find its port taken; it closes by itself within {LISTEN_S // 60} min",
        release=_stop(unit),
        released=(UnitSetting(host.host, unit, "ActiveState", "inactive"),),
    )


def _stop(unit: str) -> Run:
    return Run(Command(("systemctl", "stop", unit), sudo=True), ok=(0, 5))  # 5: there is no such unit


def _close(host: HostFacts) -> str:
    return f"Close the test port of {host.host}"


def _listen(host: HostFacts, temporary: Temporary, goal: Goal, cluster_id: str) -> Step:
    """Listen as a joiner's script does, and send back what comes."""
    name, unit, paths = host.host, _unit(cluster_id), goal.pair_of(host)
    ca, cert, key = paths
    step = Step(
        step_id=f"listen-{name}",
        host=name,
        title=f"Listen on port {PORT} of {name} with its certificate, as a joiner would",
        done=f"{name} listens with its certificate",
        why=f"While no node may join, the port of transfers is free. It closes by itself after {LISTEN_S} s.",
        action=Several((
            _stop(f"{unit}.service"),
            Run(Command((
                "systemd-run", f"--unit={unit}", "--collect", f"--description={_described(paths)}",
                f"--uid={server_user(host)}", f"--property=RuntimeMaxSec={LISTEN_S}", "socat",
                f"openssl-listen:{PORT},reuseaddr,fork,cert={cert},key={key},cafile={ca},commonname=", "PIPE",
            ), sudo=True)),
        )),
        proof=(UnitFresh(name, f"{unit}.service", _described(paths), float(LISTEN_S)),),
        limit_s=20.0,
        repeatable=True,
        estimate_s=1.0,
    )  # fmt: skip
    return temporary.on(step, _close(host))


def _tried(host: HostFacts, others: tuple[HostFacts, ...], goal: Goal) -> Step:
    """Connect as a donor's script does, to every other node, and look at the first bytes that go to the port."""
    name, there = host.host, ", ".join(one.host for one in others)
    words = (*goal.pair_of(host), server_user(host), *(group_address(one) for one in others))
    return Step(
        step_id=f"try-{name}",
        host=name,
        title=f"Connect from {name} to {there} as a donor would, and see that it is TLS",
        done=f"{name} and {there} verify each other; the bytes on the port are TLS",
        why="What is sent comes back only when both sides have verified the other's certificate.",
        action=Run(Command(("bash", "-c", TRY, "pilothouse", *words), sudo=True)),
        risk=Risk.READS,
        limit_s=30.0 * (len(others) + 1),
        repeatable=True,
        estimate_s=1.0 * len(others),
    )


# -- foreign certificates ----------------------------------------------------------------------------------------------


def foreign_off(host: HostFacts) -> str:
    """Return the title of the step that removes the foreign pair."""
    return f"Remove the foreign certificate from {host.host}"


def _foreign(host: HostFacts) -> Temporary:
    files = tuple(RemoveFile(path) for path in _FOREIGN)
    folder = Run(Command(("rmdir", "--ignore-fail-on-non-empty", "--", FOREIGN_FOLDER), sudo=True), ok=(0, 1))
    return Temporary(
        key=f"foreign:{host.host}",
        host=host.host,
        sentence=f"a foreign certificate for a test lies on {host.host}",
        danger="none: no node trusts it, and it ends with the host's next boot",
        release=Several((*files, folder)),
        released=tuple(FileAbsent(host.host, path) for path in _FOREIGN),
    )


def _foreign_on(host: HostFacts, foreign: Temporary) -> Step:
    ca, cert, key = _FOREIGN
    step = Step(
        step_id="foreign-on",
        host=host.host,
        title=f"Make a certificate of a foreign CA for {host.host}, to see it refused",
        done=f"{host.host} has a certificate of a foreign CA in {posixpath.dirname(ca)}",
        action=PutPair(ca, cert, key, MadePair("Pilothouse foreign", 2), server_user(host), server_group(host)),
        proof=(),
        repeatable=True,
        estimate_s=1.0,
    )
    return foreign.on(step, foreign_off(host))


def _refused(host: HostFacts, others: tuple[HostFacts, ...], goal: Goal) -> Step:
    name = host.host
    words = (*goal.pair_of(host), *_FOREIGN, server_user(host), *(group_address(one) for one in others))
    return Step(
        step_id="foreign-refused",
        host=name,
        title=f"See that {', '.join(one.host for one in others)} refuse a foreign CA, and {name} a joiner with one",
        done="a donor and a joiner with a foreign CA are refused",
        why="Whoever can join receives the whole database: encryption without this keeps only listeners out.",
        action=Run(Command(("bash", "-c", FOREIGN, "pilothouse", *words), sudo=True)),
        risk=Risk.READS,
        limit_s=30.0 * (len(others) + 1),
        repeatable=True,
        estimate_s=2.0,
    )
