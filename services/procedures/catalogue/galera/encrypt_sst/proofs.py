"""Steps that prove the encryption while nobody may join: TLS between every two nodes, foreign certificates refused."""

from __future__ import annotations

import posixpath

from services.connections.command import Command
from services.procedures.catalogue.galera.encrypt_sst.goal import Goal, server_group, server_user
from services.procedures.catalogue.galera.encrypt_sst.programs import FOREIGN, PORT, TRY
from services.procedures.catalogue.steps.listener import Listener, open_for_a_trial, opened
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.machine.files import FileNotAsPut
from services.procedures.conditions.machine.unit import UnitFresh
from services.procedures.plan.actions import PutPair, RemoveFile, Run, Several
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.pair_sources import MadePair
from services.procedures.plan.parts.galera.links import group_address

LISTEN_S = 600
"""The listeners end by themselves then."""
FOREIGN_FOLDER = "/run/pilothouse-foreign"
_FOREIGN = tuple(f"{FOREIGN_FOLDER}/{what}.pem" for what in ("ca", "cert", "key"))


def proof_steps(facts: Facts, members: tuple[str, ...], goal: Goal) -> tuple[Step, ...]:
    """Return the steps: listeners on all, every ordered pair tried, foreign certificates tried, listeners closed."""
    everyone = tuple(facts.host(name) for name in members)
    listeners = tuple(_listener(host, goal, facts.cluster_id) for host in everyone)
    foreign = _foreign(everyone[0])
    return (
        *(_listen(listener) for listener in listeners),
        *(_tried(host, _others(everyone, host), goal) for host in everyone),
        _foreign_on(everyone[0], foreign),
        _refused(everyone[0], _others(everyone, everyone[0]), goal),
        foreign.off("foreign-off", foreign_off(everyone[0]), "The foreign certificate is removed", 1.0),
        *(
            _held(one).off(f"unlisten-{one.host}", _close(one), f"Port {PORT} of {one.host} is closed again", 1.0)
            for one in listeners
        ),
    )


def _others(everyone: tuple[HostFacts, ...], host: HostFacts) -> tuple[HostFacts, ...]:
    """Return the others; a node that is alone is tried with itself."""
    return tuple(one for one in everyone if one.host != host.host) or (host,)


# -- listeners ---------------------------------------------------------------------------------------------------------


def _listener(host: HostFacts, goal: Goal, cluster_id: str) -> Listener:
    """Return what listens as a joiner's script does, and sends back what comes."""
    ca, cert, key = goal.pair_of(host)
    place = f"openssl-listen:{PORT},reuseaddr,fork,cert={cert},key={key},cafile={ca},commonname="
    name, description = f"pilothouse-tls-{cluster_id[:8]}", f"Pilothouse tries TLS with {cert}"
    return Listener(host.host, name, LISTEN_S, (place, "PIPE"), server_user(host), description)


def _held(listener: Listener) -> Temporary:
    name = listener.host
    return open_for_a_trial(
        listener,
        key=f"listen:{name}",
        sentence=f"port {PORT} of {name} is open for a test",
        danger=f"a joiner on {name} would find its port in use; it closes automatically within {LISTEN_S // 60} min",
    )


def _close(listener: Listener) -> str:
    return f"Close the test port of {listener.host}"


def _listen(listener: Listener) -> Step:
    name = listener.host
    step = Step(
        step_id=f"listen-{name}",
        host=name,
        title=f"Listen on port {PORT} of {name} with its certificate, as a joiner does",
        done=f"{name} listens with its certificate",
        why=f"The transfer port is free because no node can join now. It closes automatically after {LISTEN_S} s.",
        action=opened(listener),
        proof=(UnitFresh(name, listener.unit, listener.description, float(LISTEN_S)),),
        limit_s=20.0,
        repeatable=True,
        estimate_s=1.0,
    )
    return _held(listener).on(step, _close(listener))


def _tried(host: HostFacts, others: tuple[HostFacts, ...], goal: Goal) -> Step:
    """Connect as a donor's script does, to every other node, and look at the first bytes that go to the port."""
    name, there = host.host, ", ".join(one.host for one in others)
    words = (*goal.pair_of(host), server_user(host), *(group_address(one) for one in others))
    return Step(
        step_id=f"try-{name}",
        host=name,
        title=f"Connect from {name} to {there} as a donor does, and verify TLS",
        done=f"{name} and {there} verify each other; the connection uses TLS",
        why="The test data returns only if each side has verified the other's certificate.",
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
    files = tuple(RemoveFile(path, put=True) for path in _FOREIGN)
    folder = Run(Command(("rmdir", "--ignore-fail-on-non-empty", "--", FOREIGN_FOLDER), sudo=True), ok=(0, 1))
    return Temporary(
        key=f"foreign:{host.host}",
        host=host.host,
        sentence=f"a foreign test certificate is on {host.host}",
        danger="none: no node trusts it, and the next reboot removes it",
        release=Several((*files, folder)),
        released=tuple(FileNotAsPut(host.host, path) for path in _FOREIGN),
    )


def _foreign_on(host: HostFacts, foreign: Temporary) -> Step:
    ca, cert, key = _FOREIGN
    step = Step(
        step_id="foreign-on",
        host=host.host,
        title=f"Create a certificate of a foreign CA on {host.host} for a refusal test",
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
        title=f"Verify that {', '.join(one.host for one in others)} refuse a foreign CA, and that {name} refuses a "
        "joiner with one",
        done="a donor and a joiner with a foreign CA are refused",
        why="Any host that can join receives the whole database: encryption without verification stops only "
        "eavesdropping.",
        action=Run(Command(("bash", "-c", FOREIGN, "pilothouse", *words), sudo=True)),
        risk=Risk.READS,
        limit_s=30.0 * (len(others) + 1),
        repeatable=True,
        estimate_s=2.0,
    )
