"""That there is no Primary Component: everybody that anybody ever named is asked, right before an act that makes one.

A host that was called off may have come back and been bootstrapped by somebody else (seen on the lab: a second Primary
was made beside it). Silence is what is expected of it; an answer of any kind means that the plan is out of date.
"""

from __future__ import annotations

from services.connections.reads import commands
from services.errors import BadInput, Refused, SecretMissing, Unreachable, UserError
from services.facts import reads
from services.facts.machine.tcp_ways import outcome_of
from services.procedures.looking.standing import PrimaryStatus, standing
from services.procedures.plan.condition import Answer, Declared, OfHosts, condition
from services.procedures.plan.looks import Asking

_OURS = (BadInput, Refused, SecretMissing)
"""Errors that our own side makes: they tell nothing of the host."""
_TRY_S = 6.0


@condition("galera.no-primary", "no member to be Primary")
class NoPrimary(OfHosts):
    """Nobody anybody ever named is Primary: every one is asked.

    Attributes:
        hosts: each must answer, and none as a member of a Primary Component; silence is not known.
        accounted: declared powered off or fenced by a person: silence is what is expected, any answer ends it.
        addresses: what nobody here can log in to (members that only evidence names; those called off too): `hosts` try
            its ports; a listener ends it.
        ports: the ports tried there: the server's and the group's.
        retired: addresses of members that left for good: something else may serve there, so the last port alone, the
            group's, is tried.
    """

    accounted: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    ports: tuple[int, ...] = (3306, 4567)
    retired: tuple[str, ...] = ()

    @property
    def ways(self) -> tuple[tuple[str, int], ...]:
        """Return each address with each port that is tried there."""
        own = tuple((address, port) for address in self.addresses for port in self.ports)
        return (*own, *((address, port) for address in self.retired for port in self.ports[-1:]))

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), no_quorum=True, declared_off=self.accounted)

    def look(self, asking: Asking) -> Answer:
        """None answers as Primary; a host counts as none only when it answers otherwise, or runs no server."""
        asked = tuple(h for h in self.hosts if h not in self.accounted)
        found = asking.each(asked, lambda host: standing(asking, host))
        found |= asking.each(self.accounted, lambda host: _life(asking, host))
        primary = [h for h, s in found.items() if isinstance(s, PrimaryStatus) and s.primary]
        if primary:
            return Answer(holds=False, evidence=f"{', '.join(primary)}: member of a Primary Component", final=True)
        back = [f"{h} ({_said(found[h])})" for h in self.accounted if not isinstance(found[h], UserError)]
        if back:
            return Answer(holds=False, evidence=f"{', '.join(back)} answers again: make a new plan", final=True)
        doors, blind = _doors(self, asked, asking)
        if doors:
            return Answer(
                holds=False, evidence=f"{'; '.join(doors)}: a server answers there, make a new plan", final=True
            )
        silent = [f"{h} ({_said(found[h])})" for h in asked if isinstance(found[h], UserError)] + blind
        if silent:
            return Answer(holds=None, evidence=f"not known for {', '.join(silent)}")
        told = [f"{h}: {_said(found[h])}" for h in asked] or ["no host to ask"]
        told += [f"no answer from {', '.join(self.accounted)}, as you said"] if self.accounted else []
        nobody = (*self.addresses, *self.retired)
        told += [f"no server listens at {', '.join(nobody)}"] if nobody else []
        return Answer(holds=True, evidence="; ".join(told))


def _said(found: PrimaryStatus | UserError) -> str:
    return found.sentence.rstrip(".") if isinstance(found, UserError) else found.words


def _life(asking: Asking, host: str) -> PrimaryStatus:
    """Return what answers of a host that was called off; raise where nothing does.

    A refused login is an answer, our own missing password is none.
    """
    try:
        status = asking.status(host).get("wsrep_cluster_status") or "no member"
        return PrimaryStatus(status == "Primary", status)
    except (Unreachable, *_OURS):
        pass
    except UserError as error:
        return PrimaryStatus(primary=False, words=error.sentence.rstrip("."))
    try:
        asking.run(host, reads.PROCESS)
    except (Unreachable, *_OURS):
        raise
    except UserError as error:
        return PrimaryStatus(primary=False, words=error.sentence.rstrip("."))
    return PrimaryStatus(primary=False, words="the host is up")


def _doors(condition: NoPrimary, asked: tuple[str, ...], asking: Asking) -> tuple[list[str], list[str]]:
    """Return what the hosts see listening at addresses nobody can log in to, and addresses no host could try."""
    ways = condition.ways
    if not ways:
        return [], []

    def tried(host: str) -> dict[tuple[str, int], str]:
        return {
            (address, port): outcome_of(asking.run(host, commands.TCP_TRIED.read(address, port), limit_s=_TRY_S))[0]
            for address, port in ways
        }

    found = {h: t for h, t in asking.each(asked, tried).items() if not isinstance(t, UserError)}
    open_ = [
        f"{address} port {port} takes connections from {host}"
        for host, outcomes in found.items()
        for (address, port), outcome in outcomes.items()
        if outcome == "open"
    ]
    blind = [
        f"{address} (no host could try port {port})"
        for address, port in ways
        if all(outcomes[address, port] == "unknown" for outcomes in found.values())
    ]
    return open_, blind
