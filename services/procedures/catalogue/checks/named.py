"""Whom evidence names as a member of the cluster and nobody asked: 'not known', and no Primary is made beside him."""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import arbitrators, galera_of, known
from services.procedures.plan.checks import Check, Remedy, Verdict
from services.procedures.plan.forms.fields import Field, Inputs
from services.procedures.plan.forms.inputs import hosts_of, typed_hosts
from services.procedures.plan.host_facts import Facts, HostFacts, Named
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.server.options import Options

CODE = "NAMED-MEMBERS"


def named_members(facts: Facts, *, gone: tuple[str, ...] = (), blocks: bool = False) -> Check:
    """Everybody that evidence names is a host that is asked, is retired by the inventory, or was accepted by name.

    Args:
        gone: accepted in this run: off for sure.
        blocks: a Primary would be made beside those of whom nothing is known, or none tells that they don't vote.
    """
    refuted = tuple(one for one in facts.named if one.listening and (one.retired or one.name in gone))
    unknown = tuple(one for one in facts.named if not one.retired and one.name not in gone)
    accepted = [
        f"you confirmed that it is off: {one.called}" for one in facts.named if one.name in gone and not one.listening
    ]
    retired = [f"retired in the inventory: {one.called}" for one in facts.named if one.retired and not one.listening]
    unaccounted = [f"{one.called} is not off: {_lives(one)}" for one in refuted]
    unaccounted += [f"{one.called}: named by {_by(one)}, but not queried{_heard(one)}{_maybe(one)}" for one in unknown]
    unknown = (*unknown, *refuted)
    bare = [host.host for host in known(facts, facts.members) if _has_nothing(host)]
    unaccounted += [
        f"{name} was a member, but has neither data nor a configuration of the cluster now" for name in bare
    ]
    return Check(
        code=CODE,
        title="Every named member is queried",
        verdict=_verdict(unknown, [*accepted, *bare], blocks=blocks),
        evidence=";\n".join([*unaccounted, *accepted, *retired])
        or "files, logs and the local history name no other member",
        why="It may be Primary and serve clients, or have transactions that no other node has: its state is not known.",
        try_=(*(line for one in unknown for line in _ways(one)), *map(_retire, bare)),
        answers=_by_name(unknown, gone) if blocks else (),
        absolute=bool(unknown) and blocks,
        not_known=bool(unknown),
        to_read=bool(unknown),
    )


def gone_fields(facts: Facts) -> tuple[Field, ...]:
    """Return the question by which a person accepts, by name, those whom a Primary Component does not account for."""
    if not facts.named or nobody_else_votes(facts):
        return ()
    choices = tuple((one.name, f"named by {one.by[0]}, not queried") for one in facts.named if not one.retired)
    help_ = "It may be Primary elsewhere, or vote here: name a member only if you have verified that it is off."
    return (Field("gone", "Members that are certainly off", "hosts", "", choices, help=help_, required=False),)


def all_named(facts: Facts, values: Inputs) -> Check:
    """The check of each procedure that changes a cluster that serves: what its component does not rule out blocks."""
    return named_members(facts, gone=hosts_of(values.get("gone", "")), blocks=not nobody_else_votes(facts))


def nobody_else_votes(facts: Facts) -> bool:
    """Return whether the Primary Component itself says that its members are the hosts that we read, and nobody else.

    By the size that each of them tells, and by their tables of members, which name no more. Whoever else evidence names
    is no member of it now.
    """
    seen = (galera_of(host) for host in known(facts, facts.members))
    serving = [g for g in seen if g is not None and g.cluster_status == "Primary" and g.state_uuid == facts.cluster_id]
    votes = len(serving) + arbitrators(facts)
    return bool(serving) and all(g.cluster_size == votes and len(g.members) <= votes for g in serving)


def _has_nothing(host: HostFacts) -> bool:
    """Return whether a host of the cluster is one by our history alone: its disk was read, and is another's or bare."""
    folder = host[DataFolder]
    state = folder.grastate is not None and folder.grastate.names_state
    configured = host[Options].option("mysqld", "wsrep_cluster_address")
    read = folder.grastate_absent and host[Options].known
    return bool(read) and host.server_up is False and not state and not configured


def _retire(name: str) -> str:
    return f'If {name} has left the cluster permanently, add retired = ["{name}"] to its [[cluster]] in the inventory.'


def _verdict(unknown: tuple[Named, ...], accepted: list[str], *, blocks: bool) -> Verdict:
    if unknown and blocks:
        return Verdict.BLOCK
    return Verdict.WARN if unknown or accepted else Verdict.PASS


def _lives(one: Named) -> str:
    return "; ".join(one.listening)


def _heard(one: Named) -> str:
    return f"; {_lives(one)}" if one.listening else ""


def _maybe(one: Named) -> str:
    """Return whom of the hosts it may be: more are named than hosts are left over, so that some are somebody else."""
    return f"; it may be {' or '.join(one.maybe)} before a restart; this is not known" if one.maybe else ""


def _by(one: Named) -> str:
    return ", ".join(one.by[:4]) + (f" and {len(one.by) - 4} more" if len(one.by) > 4 else "")


def _ways(one: Named) -> tuple[str, ...]:
    """Return how it becomes known, and how it is taken out of the picture for good."""
    where = f"{one.name} (at {one.addresses[0]})" if one.addresses and one.addresses[0] != one.name else one.name
    ask = f"Add {where} to the inventory, or declare its address in the cluster's 'networks', so that it is queried."
    if one.listening:
        return (ask, f"If it is no longer a member, stop the process that listens on {one.name}.")
    return (ask, _retire(one.name))


def _by_name(unknown: tuple[Named, ...], gone: tuple[str, ...]) -> tuple[Remedy, ...]:
    """Return how a person accepts those who don't answer; who listens is not off, whatever a person says."""
    silent = tuple(one.name for one in unknown if not one.listening)
    if not silent:
        return ()
    return (Remedy(f"Name {', '.join(silent)} once it is certainly off", "gone", (typed_hosts((*gone, *silent)),)),)
