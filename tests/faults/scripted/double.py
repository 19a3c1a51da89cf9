"""Doubles of conditions: whether each holds on the cluster in memory, on which runs are broken and killed.

A double is a function of the condition and of one look, in a module of `doubles/`; `@double` says which conditions it
answers for. They are found by the tags of those, as the conditions are (plan/finding.py): a new file is enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.finding import BadlyNamed, modules_of
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory
from tests.faults.scripted.cluster import BACKUPS, DATADIR, DIRTY, ZERO, Cluster, Host

Double = Callable[..., bool | Answer]
_DEFAULTS = {
    DIRTY[0]: DIRTY[1],
    "wsrep_desync": "OFF", "wsrep_reject_queries": "NONE", "wsrep_sst_donor": "",
    "innodb_force_recovery": "0", "innodb_read_only": "OFF",
}  # fmt: skip


def double(*kinds: type[Condition]) -> Callable[[Double], Double]:
    """Let a function answer for these conditions: with whether one holds, or with the whole answer."""

    def marked(function: Double) -> Double:
        function.tags = tuple(kind.tag for kind in kinds)  # type: ignore[attr-defined]
        return function

    return marked


def doubles_of(*packages: ModuleType) -> dict[str, Double]:
    """Return the doubles that stand in the modules of packages, by the tags they answer for. Raises BadlyNamed."""
    found: dict[str, Double] = {}
    for module in (module for package in packages for module in modules_of(package)):
        for function in vars(module).values():
            for tag in getattr(function, "tags", ()) if getattr(function, "__module__", "") == module.__name__ else ():
                if tag in found:
                    raise BadlyNamed(f"Two doubles answer for '{tag}': {found[tag]} and {function}.")
                found[tag] = function
    return found


def told(condition: Condition, holds: bool, keep: str = "", value: str = "") -> Answer:
    """Return an answer in the condition's own words, with a value kept where it holds."""
    said = f"{condition.waits_for()}: {'it is so' if holds else 'not yet'}"
    return Answer(bool(holds), said, kept=((keep, value),) if keep and holds else ())


@dataclass(frozen=True, slots=True)
class Look:
    """One look: the cluster in memory, what the run has done, what earlier looks left; and the doubles by tag.

    Hosts that do not answer are told before: all that the condition touches do, or of `enough_of` one.
    """

    cluster: Cluster
    past: Past
    memory: Memory
    doubles: Mapping[str, Double]

    def at(self, condition: Condition) -> Answer:
        """Return what the double of a condition answers. Raises KeyError where it has none."""
        said = self.doubles[condition.tag](condition, self)
        return said if isinstance(said, Answer) else told(condition, said)

    @property
    def hosts(self) -> dict[str, Host]:
        """Return the hosts."""
        return self.cluster.hosts

    @property
    def replica_set(self) -> dict[str, int | str]:
        """Return what a MongoDB set is: 'version', 'protocol', 'primary', 'trial' (a scratch database is there) and
        'balancer' (of its cluster)."""
        return self.cluster.replica_set

    def together(self, hosts: tuple[str, ...]) -> bool:
        """Return whether members of a MongoDB set all run and reach one another."""
        return all(self.hosts[host].running and self.hosts[host].primary for host in hosts)

    @staticmethod
    def variable(host: Host, name: str) -> str:
        """Return a server variable: as it was set, else as the option files give it."""
        found = re.findall(rf"^{name} = (.*)$", "\n".join(host.files.values()), re.MULTILINE)
        return host.variables.get(name) or (found[-1] if found else _DEFAULTS.get(name, ""))

    def status(self, host: Host, name: str) -> str:
        """Return a status value."""
        desynced = "wsrep_desync" in host.variables
        return {
            "wsrep_local_state": "2" if desynced else "4" if host.primary else "0",
            "wsrep_local_recv_queue": "0",
            "wsrep_local_cached_downto": "1",
            "wsrep_last_committed": str(host.seqno),
            "wsrep_cluster_size": str(len(self.cluster.primaries())),
            "wsrep_cluster_status": "Primary" if host.primary else "non-Primary",
            "wsrep_ready": "ON" if host.primary else "OFF",
        }[name]

    @staticmethod
    def exists(host: Host, path: str) -> bool:
        """Return whether there is such a file or folder."""
        if path == DATADIR:
            return host.has_data
        if path == f"{DATADIR}/grastate.dat":
            return host.has_data and host.grastate_uuid not in {"", ZERO}
        if path.startswith(DATADIR + "/") and "." not in path.removeprefix(DATADIR):
            return host.has_data
        return path in host.files or path in host.aside or path in host.works or path.startswith(BACKUPS)

    @staticmethod
    def text(host: Host, path: str) -> str:
        """Return what a file holds, '' for one that is not there."""
        if path.endswith("grastate.dat"):
            return (
                f"uuid: {host.grastate_uuid}\nseqno: {host.grastate_seqno}\nsafe_to_bootstrap: {host.safe_to_bootstrap}"
            )
        return host.files.get(path, "")
