"""Conditions on the scripted cluster: a Prover (engine/ports.py) that has each of them answer for itself."""

from __future__ import annotations

import re
from collections.abc import Collection

from services.procedures.plan.condition import Answer, Condition, OfHost
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory
from tests.faults.scripted.cluster import BACKUPS, CLUSTER, DATADIR, DIRTY, ZERO, Cluster, Host

_DEFAULTS = {
    DIRTY[0]: DIRTY[1],
    "wsrep_desync": "OFF", "wsrep_reject_queries": "NONE", "wsrep_sst_donor": "",
    "innodb_force_recovery": "0", "innodb_read_only": "OFF",
}  # fmt: skip


class ScriptedProver:
    """Has every kind of condition answer (plan/scripted.py); an unreachable host gives None, as a real one does."""

    def __init__(self, cluster: Cluster, unreadable: Collection[Condition] = ()) -> None:
        """Begin; what is `unreadable` can't be told, though every host answers."""
        self.cluster = cluster
        self._unreadable = unreadable

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """See ports.Prover."""
        if condition in self._unreadable:
            return Answer(None, f"{condition.waits_for()}: it could not be read")
        own = _own(condition)
        if own and not self.hosts[own].answers():
            return Answer(None, f"{own} does not answer")
        enough = sorted(condition.declared().enough_of)
        if enough and all(not self.hosts[name].answers() for name in enough):
            return Answer(None, f"none of {', '.join(enough)} answers")
        away = [name for name in sorted(_others(condition)) if not self.hosts[name].answers()]
        if away:
            return Answer(None, f"no answer from {', '.join(away)}")
        return condition.scripted(self, past, memory)

    @property
    def hosts(self) -> dict[str, Host]:
        """Return the hosts."""
        return self.cluster.hosts

    @property
    def replica_set(self) -> dict[str, int | str]:
        """See scripted.World."""
        return self.cluster.replica_set

    def primaries(self) -> list[Host]:
        """Return the Synced members."""
        return self.cluster.primaries()

    @staticmethod
    def variable(host: Host, name: str) -> str:
        """See scripted.World."""
        found = re.findall(rf"^{name} = (.*)$", "\n".join(host.files.values()), re.MULTILINE)
        return host.variables.get(name) or (found[-1] if found else _DEFAULTS.get(name, ""))

    def status(self, host: Host, name: str) -> str:
        """See scripted.World."""
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
        """See scripted.World."""
        if path == DATADIR:
            return host.has_data
        if path == f"{DATADIR}/grastate.dat":
            return host.has_data and host.grastate_uuid not in {"", ZERO}
        if path.startswith(DATADIR + "/") and "." not in path.removeprefix(DATADIR):
            return host.has_data
        return path in host.files or path in host.aside or path in host.works or path.startswith(BACKUPS)

    @staticmethod
    def text(host: Host, path: str) -> str:
        """See scripted.World."""
        if path.endswith("grastate.dat"):
            return (
                f"uuid: {host.grastate_uuid}\nseqno: {host.grastate_seqno}\nsafe_to_bootstrap: {host.safe_to_bootstrap}"
            )
        return host.files.get(path, "")


def _own(condition: Condition) -> str:
    """Return the host that has to answer before all others, '' where another one does as well."""
    host = condition.host if isinstance(condition, OfHost) else ""
    return "" if host in condition.declared().enough_of else host


def _others(condition: Condition) -> frozenset[str]:
    """Return the hosts beside its own that have to answer."""
    declared = condition.declared()
    return declared.touches - declared.enough_of - {_own(condition)}


STATE_UUID = CLUSTER
