"""The plan of encrypt-sst: certificates on all nodes, joins held, proof, [sst] changed on all, joins let go. Pure."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue.galera.encrypt_sst.goal import (
    DEFAULT_DAYS,
    FILES,
    SERVERS,
    Goal,
    goal_of,
    good_already,
    server_group,
    server_user,
)
from services.procedures.catalogue.galera.encrypt_sst.proofs import proof_steps
from services.procedures.catalogue.steps.pair_copied import copied_pair, put_pair
from services.procedures.catalogue.steps.server import whole_again
from services.procedures.catalogue.steps.sst_section import changed_on_all
from services.procedures.conditions.galera.config.pair_sound import LocalPairSound, PairSound
from services.procedures.plan.actions import PutPair, WaitFor
from services.procedures.plan.condition import Kept
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import number_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Plan, Risk, Step
from services.procedures.plan.pair_sources import LocalPair, MadePair
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.galera.transfer_pairs import TransferPairs

PAIR = "pair"
"""The name under which the run keeps the digest of its pair: public halves alone."""


def encrypt_plan(facts: Facts, members: tuple[str, ...], values: Inputs, about: str) -> Plan:
    """Return the plan; without steps where all transfers are encrypted so already."""
    goal = goal_of(facts, values)
    good = good_already(facts, members, values)
    name = facts.cluster_name or facts.cluster_id
    return Plan(
        procedure=about,
        title=f"Encrypt the state transfers of {name} (encrypt=4)",
        summary="Every node gets the same settings while no node can join; TLS is verified before the settings change.",
        cluster_id=facts.cluster_id,
        cluster_name=facts.cluster_name,
        hosts=members,
        quorums=(members,),
        inputs=tuple(values.items()),
        steps=() if good else looked_again(_steps(facts, members, values, goal)),
        expects=() if good else _expects(facts, members, goal),
    )


def _steps(facts: Facts, members: tuple[str, ...], values: Inputs, goal: Goal) -> tuple[Step, ...]:
    if not members:
        return ()
    rollout = changed_on_all(facts, members, goal.settings, proof_steps(facts, members, goal))
    return (*_pairs(facts, members, values, goal), *rollout, whole_again(facts, members))


def _expects(facts: Facts, members: tuple[str, ...], goal: Goal) -> tuple[str, ...]:
    old = {path for m in members for path in facts.host(m)[SstOptions].pair_files if path}
    stays = f"The previous files are not removed: {', '.join(sorted(old))}." if old and goal.source != SERVERS else ""
    return tuple(
        filter(
            None,
            (
                f"encrypt=4 in [sst] of {', '.join(members)}; every state transfer uses TLS, even for an IST.",
                "A new node needs the same files: add-node copies those that this run created."
                if goal.source != SERVERS
                else "A new node needs a certificate from the same CA in its [mysqld].",
                stays,
            ),
        )
    )


# -- certificates ------------------------------------------------------------------------------------------------------


def _pairs(facts: Facts, members: tuple[str, ...], values: Inputs, goal: Goal) -> tuple[Step, ...]:
    """Return the steps that bring a pair to all nodes: made, or read, once; the others get copies of that one."""
    everyone = tuple(facts.host(name) for name in members)
    if goal.source == SERVERS:
        return tuple(_own(host, goal) for host in everyone)
    first, *rest = everyone
    return (
        *((_local(values),) if goal.source == FILES else ()),
        _first(facts, first, values, goal),
        *(_copied(host, first.host, goal) for host in rest),
    )


def _own(host: HostFacts, goal: Goal) -> Step:
    """Read the server's own pair once more, right before anything is changed."""
    name = host.host
    return Step(
        step_id=f"pair-{name}",
        host=name,
        title=f"Verify that the server certificate of {name} is complete and valid",
        done=f"the server certificate of {name} can be used",
        action=WaitFor((PairSound(name, *goal.pair_of(host)),), f"the certificate of {name}"),
        risk=Risk.READS,
        limit_s=20.0,
        repeatable=True,
        estimate_s=1.0,
    )


def _local(values: Inputs) -> Step:
    sound = LocalPairSound(values["ca_file"], values["cert_file"], values["key_file"])
    return Step(
        step_id="files",
        host="",
        title="Verify that the files on this workstation match and are valid",
        done="the files match and are valid",
        why="Chain, key, dates and names are checked before anything is sent to a host.",
        action=WaitFor((sound,), "the files on this workstation"),
        risk=Risk.READS,
        limit_s=10.0,
        repeatable=True,
        estimate_s=0.5,
    )


def _first(facts: Facts, host: HostFacts, values: Inputs, goal: Goal) -> Step:
    """Put the pair on the first node. Done twice it makes another one, which nobody has a copy of yet: no harm."""
    name = host.host
    made = MadePair(_named(facts), number_of(values["days"]) or DEFAULT_DAYS)
    source = LocalPair(values["ca_file"], values["cert_file"], values["key_file"]) if goal.source == FILES else made
    what = "the certificate from this workstation" if goal.source == FILES else "a new CA and certificate"
    action = PutPair(goal.ca, goal.cert, goal.key, source, server_user(host), server_group(host))
    step = put_pair(host, action, empty_folder=_no_folder(host))
    return replace(
        step,
        title=f"Install {what} on {name}",
        why="One pair for all nodes; the key of the CA is sent to no host. No transfer uses the pair before all nodes "
        "have it.",
        proof=(PairSound(name, goal.ca, goal.cert, goal.key, keep=PAIR),),
    )


def _copied(host: HostFacts, source: str, goal: Goal) -> Step:
    files, account = (goal.ca, goal.cert, goal.key), (server_user(host), server_group(host))
    return copied_pair(host, source, files, account, empty_folder=_no_folder(host), same_as=Kept(PAIR))


def _no_folder(host: HostFacts) -> bool:
    return host[TransferPairs].folder is False


def _named(facts: Facts) -> str:
    """Return what the common names begin with: of the cluster's name only plain characters, at most forty."""
    plain = "".join(c for c in facts.cluster_name if c.isascii() and (c.isalnum() or c in "-_."))[:40]
    return plain or "galera"
