"""What the option files give the scripts of a state transfer: on one host, and on all of them alike."""

from __future__ import annotations

from collections.abc import Mapping

from services.errors import UserError
from services.facts.server.harmless_options import is_secret, normal
from services.facts.transfer.sst_options import chosen
from services.procedures.looking.sst_options import given_now
from services.procedures.plan.condition import Answer, Declared, OfHost, OfHosts, condition
from services.procedures.plan.looks import Asking

Settings = tuple[tuple[str, str | None], ...]
"""Option and value; None: not set."""


@condition("galera.sst-gives", "the options of a state transfer on {host}")
class SstGives(OfHost):
    """The scripts of a state transfer find these values on the host, whatever file or group they stand in."""

    options: Settings

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), stands=frozenset({f"transfer options {self.host}"}))

    def look(self, asking: Asking) -> Answer:
        """Ask my_print_defaults, group after group, as the scripts do."""
        found = chosen(given_now(asking, self.host), (name for name, _ in self.options))
        wrong = _differ(found, self.options)
        told = told_of(found) if not wrong else f"{wrong} of {told_of(found)}"
        return Answer(not wrong, f"on {self.host} the scripts read {told}")


@condition("galera.sst-same", "the options of a state transfer to be the same on every host")
class SstSame(OfHosts):
    """The scripts find the same values of these options on all hosts, or on each what it had before the run.

    So no two hosts ever begin a transfer of which one knows nothing. Who can't be read is not known, never 'the same'.

    Attributes:
        former: host and what it gave before the run; () = they must be the same.
    """

    options: tuple[str, ...]
    former: tuple[tuple[str, Settings], ...] = ()

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), stands=frozenset(f"transfer options {host}" for host in self.hosts))

    def look(self, asking: Asking) -> Answer:
        """Ask all hosts at once."""
        found = asking.each(self.hosts, lambda host: chosen(given_now(asking, host), self.options))
        blind = [f"{host}: {error}" for host, error in found.items() if isinstance(error, UserError)]
        if blind:
            return Answer(holds=None, evidence=f"not known whether the options are the same: {'; '.join(blind)}")
        return self._judged({h: one for h, one in found.items() if not isinstance(one, UserError)})

    def _judged(self, found: Mapping[str, Mapping[str, str | None]]) -> Answer:
        seen = {tuple(sorted(one.items())) for one in found.values()}
        if len(seen) == 1:
            return Answer(holds=True, evidence=f"the same on {', '.join(found)}: {told_of(next(iter(found.values())))}")
        before = dict(self.former)
        if before and all(host in before and not _differ(one, before[host]) for host, one in found.items()):
            return Answer(holds=True, evidence=f"on {', '.join(found)} as before the run")
        evidence = "; ".join(f"{host}: {told_of(one)}" for host, one in found.items())
        return Answer(holds=False, evidence=f"the options differ: {evidence}")


def told_of(values: Mapping[str, str | None]) -> str:
    """Return options and values in words; of a secret only that it is set."""
    return ", ".join(
        f"{name} {'not set' if value is None else 'set' if is_secret(name) else f'= {value}'}"
        for name, value in values.items()
    )


def _differ(found: Mapping[str, str | None], wanted: Settings) -> str:
    """Return the names whose value is another one."""
    return ", ".join(name for name, value in wanted if found.get(normal(name)) != value)
