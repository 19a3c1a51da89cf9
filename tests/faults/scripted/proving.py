"""Conditions on the scripted cluster: a Prover (services/procedures/engine/ports.py) that looks at memory."""

from __future__ import annotations

import re

from services.procedures.engine.ports import Past
from services.procedures.engine.remembering import Memory
from services.procedures.plan import conditions as c
from services.procedures.plan.conditions import Answer, Condition
from services.procedures.plan.conditions_at_rest import PositionMark, StateNamed, Unmoved
from services.procedures.plan.conditions_balancer import BalancerServer
from services.procedures.plan.conditions_component import NotApart, NothingWritten
from services.procedures.plan.conditions_founding import FoundsNothing
from services.procedures.plan.waiting_words import waiting_words
from tests.faults.scripted.cluster import CLUSTER, DATADIR, OPTION, ZERO, Cluster, Host

_DEFAULTS = {
    "wsrep_desync": "OFF", "wsrep_reject_queries": "NONE", "wsrep_sst_donor": "",
    "innodb_force_recovery": "0", "innodb_read_only": "OFF",
}  # fmt: skip


class ScriptedProver:
    """Answers every kind of condition; an unreachable host gives None, as a real one does."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """See ports.Prover."""
        host = getattr(condition, "host", "")
        if host and not self.cluster.hosts[host].answers():
            return Answer(None, f"{host} does not answer")
        away = [name for name in getattr(condition, "hosts", ()) if not self.cluster.hosts[name].answers()]
        if away and not isinstance(condition, c.SameHistory | NotApart):  # one of them is enough to compare with
            return Answer(None, f"no answer from {', '.join(away)}")
        if more := self._uncounted(condition):
            return Answer(False, f"not counted: {', '.join(more)}", final=True)
        kept: tuple[tuple[str, str], ...] = ()
        holds = self._holds(condition, past, memory)
        if isinstance(condition, c.ProviderOption) and condition.keep and holds:
            kept = ((condition.keep, self.cluster.hosts[host].frozen_at or ""),)
        if isinstance(condition, c.StatusIs) and condition.keep and holds:
            kept = ((condition.keep, self._status(self.cluster.hosts[host], condition.status)),)
        if isinstance(condition, c.CleanPosition) and condition.keep and holds:
            kept = ((condition.keep, str(self.cluster.hosts[host].grastate_seqno)),)
        if isinstance(condition, PositionMark):
            kept = ((condition.keep, str(self.cluster.hosts[host].starts)),)
        return Answer(holds, _said(condition, holds=holds), kept=kept)

    def _holds(self, condition: Condition, past: Past, memory: Memory) -> bool:  # noqa: C901, PLR0911, PLR0912 - one case a condition
        hosts = self.cluster.hosts
        match condition:
            case c.VariableIs(host, variable, value):
                return hosts[host].running and self._variable(hosts[host], variable).lower() == value.lower()
            case c.ProviderOption(host, option, comparison, value):
                return (
                    hosts[host].running
                    and option == OPTION
                    and _compared(hosts[host].frozen_at or "", comparison, value)
                )
            case c.StatusIs(host, status, comparison, value):
                return hosts[host].running and _compared(self._status(hosts[host], status), comparison, value)
            case c.Joined(host, beside=beside):
                return hosts[host].primary and not (beside and hosts[host].apart)
            case NotApart(host):
                return not hosts[host].apart
            case c.Stopped(host):
                return not hosts[host].running
            case c.CleanPosition(host, _, uuid, at_least):
                return hosts[host].grastate_uuid == uuid and hosts[host].grastate_seqno >= max(
                    0, _number(at_least, past)
                )
            case c.ClusterWhole(names, size, _, desynced):
                members = [h for h in hosts.values() if h.primary]
                calm = all(h.name in desynced or "wsrep_desync" not in h.variables for h in members)
                return len(members) == size and {h.name for h in members} == set(names) and calm
            case c.StillPrimary(names, at_least):
                return sum(hosts[n].primary for n in names) >= at_least
            case c.FormedAgain(names):
                return all(hosts[n].primary for n in names) or _waited(condition, memory)
            case c.NoPrimary(names, accounted):
                return not any(hosts[n].primary for n in names) and not any(hosts[n].reachable for n in accounted)
            case c.FreeDisk(_, "/tmp", _):
                return True
            case c.FreeDisk(host, _, at_least):
                return hosts[host].free >= at_least
            case c.FileAbsent(host, path):
                return not self._exists(hosts[host], path)
            case c.FileSays(host, path, pattern):
                return re.search(pattern, self._text(hosts[host], path), re.MULTILINE) is not None
            case c.OptionIs(host, _, option, value):
                found = re.findall(rf"^{option} ?= ?(.*)$", "\n".join(hosts[host].files.values()), re.MULTILINE)
                return (found[-1] if found else None) == value
            case c.TransferWas(host, kind, donor):
                seen = hosts[host]
                return seen.primary and kind in {"any", seen.came_by} and donor in {"", seen.came_from}
            case c.Position(host, at_least):
                return hosts[host].primary and hosts[host].seqno >= _number(at_least, past)
            case NothingWritten(host, since):
                return hosts[host].seqno <= since
            case c.CacheFrozen(host, _, stopped_at):
                frozen = int(hosts[host].frozen_at or "-1")
                return hosts[host].running and 0 <= frozen <= _number(stopped_at, past)
            case c.CacheReaches(host, _, uuid, donors):
                reached = any(hosts[d].primary and hosts[d].cached_from <= hosts[host].seqno + 1 for d in donors)
                known = hosts[host].grastate_uuid == uuid and hosts[host].grastate_seqno >= 0
                return hosts[host].primary or (reached and known)
            case c.UnitFresh(host, unit, description):
                return hosts[host].units.get(unit, "inactive") == description
            case c.UnitSetting(host, unit, prop, value):
                if prop == "Restart":
                    return ("no" if hosts[host].no_restart else "on-abnormal") == value
                if prop == "NeedDaemonReload":
                    return ("no" if hosts[host].loaded == hosts[host].drop_ins else "yes") == value
                return hosts[host].units.get(unit, "inactive") == value
            case BalancerServer(host, _, _, server, state, at_most):
                out = hosts[host].orders[server] != "ready"
                empty = at_most is None or condition.patience_s > 0 or hosts[host].sessions[server] <= at_most
                return empty and {"free": not out, "drained": out}.get(state, not out and hosts[server].primary)
            case c.SameHistory(host):
                if hosts[host].grastate_uuid in {"", ZERO}:
                    return condition.by_sst or not hosts[host].has_data
                return not hosts[host].parted
            case FoundsNothing(host):
                return not hosts[host].founds
            case StateNamed(host):
                return hosts[host].grastate_uuid not in {"", ZERO}
            case PositionMark(host, _, _, since):
                return not since or past.kept[since] == str(hosts[host].starts)
            case Unmoved(host, mark=mark, recovered=recovered, position=position, own_start=own):
                stands = past.kept[mark] == str(hosts[host].starts) and past.kept.get(recovered, "") == position
                return own in past.began or stands or (bool(condition.hosts) and hosts[host].primary)
            case c.NoClients() | c.FlowControlBelow() | c.Listening() | c.CacheLasts():
                return True
        raise AssertionError(condition)

    def _uncounted(self, condition: Condition) -> list[str]:
        """Return members that a proof of the whole cluster does not count; a real look needs some to be final."""
        if not isinstance(condition, c.ClusterWhole):
            return []
        return [h.name for h in self.cluster.primaries() if h.name not in condition.hosts and not h.apart]

    @staticmethod
    def _variable(host: Host, name: str) -> str:
        found = re.findall(rf"^{name} = (.*)$", "\n".join(host.files.values()), re.MULTILINE)
        return host.variables.get(name) or (found[-1] if found else _DEFAULTS.get(name, ""))

    def _status(self, host: Host, name: str) -> str:
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
    def _exists(host: Host, path: str) -> bool:
        if path == DATADIR:
            return host.has_data
        if path == f"{DATADIR}/grastate.dat":
            return host.has_data and host.grastate_uuid not in {"", ZERO}
        if path.startswith(DATADIR + "/") and "." not in path.removeprefix(DATADIR):
            return host.has_data
        return path in host.files or path in host.aside

    @staticmethod
    def _text(host: Host, path: str) -> str:
        if path.endswith("grastate.dat"):
            return (
                f"uuid: {host.grastate_uuid}\nseqno: {host.grastate_seqno}\nsafe_to_bootstrap: {host.safe_to_bootstrap}"
            )
        return host.files.get(path, "")


def _waited(condition: Condition, memory: Memory) -> bool:
    """Return whether some looks of this attempt were made: patience ends after a few."""
    looks = int(str(memory.value(condition) or 0)) + 1
    memory.keep(condition, looks)
    return looks >= 4


def _said(condition: Condition, *, holds: bool) -> str:
    """Return evidence in the engine's own words for a condition: 'the server of n3 to be stopped: not yet'."""
    return f"{waiting_words((condition,))}: {'it is so' if holds else 'not yet'}"


def _number(value: c.Number, past: Past) -> int:
    return int(past.kept.get(value.name, "0")) if isinstance(value, c.Kept) else value


def _compared(left: str, comparison: str, right: str) -> bool:
    if comparison in {"=", "!="}:
        return (left == right) is (comparison == "=")
    if not re.fullmatch(r"-?\d+", left):
        return False
    low, high = int(left), int(right)
    return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[comparison]


STATE_UUID = CLUSTER
