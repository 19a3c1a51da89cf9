"""Steps that several Galera procedures are built of: keep down, stop, start, prove. All pure.

Sources: systemd.service(5) (Restart=), systemd.unit(5) (drop-ins under /run).
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import Literal

from services.connections.command import Command
from services.facts.reads import DEFAULT_DATADIR
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.checks.starting import LEAST_ROOM, LEAST_TEMPORARY
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.galera.config.founding import FoundsNothing
from services.procedures.conditions.galera.data.at_rest import PositionMark
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.data.state_named import StateNamed
from services.procedures.conditions.galera.history.restored import RestoredHistory
from services.procedures.conditions.galera.history.same import SameHistory
from services.procedures.conditions.galera.membership.apart import NotApart
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.machine.files import FileWithout
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.conditions.server.status import StatusIs
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Continue, PutFile, RemoveFile, Run, Several, WaitFor
from services.procedures.plan.condition import Condition, Kept, Number
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Consent, Risk, Step, Undo
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.log_filters import log_options
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.starting import TMP, Starting, start_unit
from services.procedures.plan.pasts.positions import stood_name

RELOAD = Run(Command(("systemctl", "daemon-reload"), sudo=True))
DEFAULT_FOLDER = "/etc/mysql/conf.d"
START_FIXED_S, STOP_FIXED_S, DOWN_FIXED_S = 20.0, 10.0, 5.0
STOP_LIMIT_S = 900.0
"""The packages' TimeoutStopSec, where a unit's own is not known."""
_NO_RESTART = "[Service]\nRestart=no\n"


def systemctl(verb: str, unit: str, *flags: str) -> Run:
    """Return `sudo systemctl VERB [FLAGS] UNIT`."""
    return Run(Command(("systemctl", verb, *flags, unit), sudo=True))


def stop_unit(unit: str) -> Run:
    """Return the order to stop a unit, which comes back at once: a server may take a quarter of an hour, or hang.

    What waits for it (`Stopped`) says what it sees meanwhile, and the watch rules go on; see systemctl(1), --no-block.
    """
    return systemctl("stop", unit, "--no-block")


def stop_limit_s(host: HostFacts) -> float:
    """Return how long a stop is waited for: systemd's own word comes first."""
    return max(120.0, (host[Unit].timeout_stop_s or STOP_LIMIT_S) + 30.0)


def make_stopped(host: HostFacts, why: str, undo: Undo | None = None) -> Step:
    """Make sure that no server runs, whatever it does now: one that only waits for its cluster may heed no stop.

    How long that takes is known only where systemd kills it in the end.
    """
    name, unit, known = host.host, unit_of(host), host[Unit]
    kills_s = known.timeout_stop_s if known.kills else None
    return Step(
        step_id=f"down-{name}",
        host=name,
        title=f"Make sure that {unit} is stopped on {name}",
        done=f"{unit} is stopped on {name}",
        why=why,
        action=stop_unit(unit),
        already=(Stopped(name, unit),),
        proof=(Stopped(name, unit),),
        limit_s=stop_limit_s(host),
        undo=undo,
        repeatable=True,
        cancellable=False,
        estimate_s=kills_s if known.waits else DOWN_FIXED_S,
    )


def unit_of(host: HostFacts) -> str:
    """Return the host's database unit; the Debian package's name where none was seen."""
    return host[Unit].name or "mariadb.service"


def start_unit_of(host: HostFacts) -> str:
    """Return the unit that a node is started with."""
    return start_unit(host)


def founds_nothing(host: HostFacts) -> FoundsNothing:
    """Return what must hold before each start: nothing left behind has it found a cluster beside the others."""
    line = host[Starting].line
    return FoundsNothing(host.host, start_unit(host), line.script if line is not None else "")


def option_folder(host: HostFacts) -> str:
    """Return the folder of option files that this host's server reads last, for a file of our own."""
    folders = [posixpath.dirname(path) for path, _ in host[Options].files if posixpath.dirname(path).endswith(".d")]
    return folders[-1] if folders else DEFAULT_FOLDER


# -- automatic restart ------------------------------------------------------------------------------------------------


def _restart(host: HostFacts) -> tuple[Temporary, str]:
    """Return it and the drop-in's path. It is over when its line is gone and systemd knows it.

    A console killed before the reload leaves Restart=no in force; NeedDaemonReload tells that files changed behind
    systemd (org.freedesktop.systemd1(5)).
    """
    unit, name = start_unit_of(host), host.host
    path = f"/run/systemd/system/{unit}.d/90-pilothouse.conf"
    return (
        Temporary(
            key=f"restart:{name}",
            host=name,
            sentence=f"automatic restart disabled on {name}",
            danger=f"{name} is not restarted after a crash",
            release=Several((RemoveFile(path, _NO_RESTART), RELOAD)),
            released=(FileWithout(name, path, _NO_RESTART), UnitSetting(name, unit, "NeedDaemonReload", "no")),
        ),
        path,
    )


def restart_off(host: HostFacts, prefix: str = "") -> Step:
    """Keep systemd from restarting a node that aborts: its second start would take an SST over the data to be kept."""
    unit, name = start_unit_of(host), host.host
    restart, path = _restart(host)
    step = Step(
        step_id=f"{prefix}restart-off-{name}",
        host=name,
        title=f"Disable systemd's automatic restart of {unit} on {name}",
        done=f"{unit} on {name} is not restarted automatically",
        why="systemd would restart an aborted node within seconds, and its second start may replace its data by SST.",
        action=Several((PutFile(path, (_NO_RESTART,)), RELOAD)),
        proof=(UnitSetting(name, unit, "Restart", "no"),),
        repeatable=True,
        estimate_s=1.0,
    )
    return restart.on(step, f"Enable the automatic restart of {unit} on {name} again")


def restart_on(host: HostFacts, prefix: str = "") -> Step:
    """Discharge `restart_off`."""
    unit, name = start_unit_of(host), host.host
    return _restart(host)[0].off(
        f"{prefix}restart-on-{name}",
        f"Enable the automatic restart of {unit} on {name} again",
        f"{unit} on {name} is restarted automatically again",
        1.0,
    )


# -- stop and start ---------------------------------------------------------------------------------------------------


def same_history(
    facts: Facts,
    host: HostFacts,
    beside: tuple[str, ...],
    stopped_at: str = "",
    *,
    accepted: bool = False,
    removed: bool = False,
) -> SameHistory:
    """Return what must hold before a node is started: an IST continues its own past, or only an SST can come.

    Args:
        beside: the hosts whose past it must share; stopped_at: the name under which the run kept where it left them.
        accepted: a person named it before: its past may stay unknown.
        removed: an earlier step takes its state away. A host that had none when it was planned had it judged then.
    """
    at, folder = Kept(stopped_at) if stopped_at else None, host[DataFolder]
    others = tuple(name for name in beside if name != host.host)
    none = folder.grastate_absent or (folder.grastate is not None and not folder.names_state)
    by_sst = removed or (not stopped_at and bool(none))
    datadir = folder.path or DEFAULT_DATADIR
    known = (facts.host(name) for name in (host.host, *others))
    filters = tuple((one.host, option, value) for one in known for option, value in log_options(one))
    return SameHistory(
        host.host, others, facts.cluster_id, unit_of(host), datadir, at, accepted, by_sst, filters=filters
    )


def by_sst(node: str) -> str:
    """Return the question before a start that nothing shows to be an IST."""
    return f"Starting {node} replaces all its data by SST, unless IST is possible after all. Type {node} to accept."


def stop_node(
    facts: Facts,
    host: HostFacts,
    *,
    others: tuple[str, ...],
    whole: tuple[str, ...],
    prefix: str = "",
    keep: str = "",
    at_least: Number = 0,
    desynced: bool = False,
) -> Step:
    """Stop a node cleanly; the others must stay Primary, the node must leave with a known position.

    Taken back it is started. A start of this run that broke off may have left it without a state, and then an SST
    replaces all its data, rows that were never replicated too: that waits for a person's word, and is told at the end.

    Args:
        others: the members that must stay; whole: the members that must be whole just before.
        keep: name under which the position it stopped at is kept; at_least: the lowest one that will do.
        desynced: the node was desynced on purpose before.
    """
    unit, name, step_id = unit_of(host), host.host, f"{prefix}stop-{host.host}"
    return Step(
        step_id=step_id,
        host=name,
        title=f"Stop {unit} on {name}",
        done=f"{name} stopped cleanly",
        action=stop_unit(unit),
        risk=Risk.NODE_DOWN,
        before=(
            ClusterWhole(whole, len(whole) + arbitrators(facts), facts.cluster_id, (name,) if desynced else ()),
            # Without either the start fails, and nobody brings the node back.
            FreeDisk(name, TMP, LEAST_TEMPORARY),
            FreeDisk(name, host[DataFolder].path or DEFAULT_DATADIR, LEAST_ROOM),
        ),
        already=(),
        proof=(
            Stopped(name, unit),
            CleanPosition(name, host[DataFolder].path, facts.cluster_id, at_least=at_least, keep=keep),
            StillPrimary(others, len(others), facts.cluster_id),
            *((PositionMark(name, host[DataFolder].path or DEFAULT_DATADIR, stood_name(keep)),) if keep else ()),
        ),
        limit_s=stop_limit_s(host),
        undo=_started_again(facts, host, others, keep, step_id),
        repeatable=True,
        cancellable=False,
        moves=name,
        estimate_s=STOP_FIXED_S,
    )


def _started_again(facts: Facts, host: HostFacts, others: tuple[str, ...], keep: str, step_id: str) -> Undo:
    name, again = host.host, start_unit_of(host)
    return Undo(
        f"Start {again} on {name} again",
        systemctl("start", again, "--no-block"),
        (Joined(name, facts.cluster_id, again, others),),
        limit_s=1_800.0,
        # Without a Primary it would wait in vain, and its clean position be gone: grastate.dat says -1 then.
        before=(
            NotApart(name, others, facts.cluster_id),
            StillPrimary(others, 1, facts.cluster_id),
            same_history(facts, host, others, keep),
            founds_nothing(host),
        ),
        consent=Consent((StateNamed(name, host[DataFolder].path or DEFAULT_DATADIR),), by_sst(name), name),
        leaves=(TransferWas(name, "IST", "", step_id),),
    )


def came_by_itself(facts: Facts, host: HostFacts, beside: tuple[str, ...]) -> Undo | None:
    """Return how a stop of a server that was up, or that systemd was about to start again, is taken back: it starts.

    A stop takes away the restart that systemd had ordered after a crash; giving the automatic restart back does not
    order it anew. None for one that nobody would have started.
    """
    coming = host[Unit].active_state in {"activating", "reloading"}
    if not (host.server_up or coming):
        return None
    again = start_unit_of(host)
    return Undo(
        f"Start {again} on {host.host} again, as systemd would have"
        if coming
        else f"Start {again} on {host.host} again",
        systemctl("start", again, "--no-block"),
        before=(same_history(facts, host, beside), founds_nothing(host)),
        alone=True,
    )


def sst_accepted(stop: Step) -> Step:
    """Return a stop whose way back may be an SST: a person has accepted that beforehand."""
    return replace(stop, undo=replace(stop.undo, consent=None, leaves=()) if stop.undo is not None else None)


def start_node(
    facts: Facts,
    host: HostFacts,
    history: SameHistory | RestoredHistory,
    *,
    limit_s: float,
    prefix: str = "",
    estimate_s: float | None = None,
    before_undo: tuple[Condition, ...] = (),
    leaves: tuple[Condition, ...] = (),
) -> Step:
    """Start a node and wait until it is joined: 'started' is not 'joined'.

    Args:
        history: what shows that the node and those it joins share their past (`same_history`, or of restored data).
        before_undo: what must hold too before it is stopped again: that it is not the one that keeps the cluster up.
        leaves: what is looked at when it is stopped again, and told where it does not hold.
    """
    unit, name = start_unit_of(host), host.host
    apart = NotApart(name, history.hosts, facts.cluster_id)  # stopped so, its rows would be on no server that serves
    return Step(
        step_id=f"{prefix}start-{name}",
        host=name,
        title=f"Start {unit} on {name} and wait for Synced",
        done=f"{name} is Synced",
        why="systemd reports 'active' long before the node is a member; only the node's own state counts.",
        action=systemctl("start", unit, "--no-block"),
        before=(apart, Stopped(name, unit), history, founds_nothing(host)),
        already=(Joined(name, facts.cluster_id, unit, history.hosts),),
        proof=(Joined(name, facts.cluster_id, unit, history.hosts),),
        limit_s=limit_s,
        undo=Undo(
            f"Stop {unit} on {name}",
            stop_unit(unit),
            (Stopped(name, unit),),
            limit_s=stop_limit_s(host),
            before=(apart, *before_undo),
            leaves=leaves,
        ),
        repeatable=True,
        cancellable=False,
        moves=name,
        settles=(name,),
        estimate_s=estimate_s if estimate_s is not None else START_FIXED_S,
    )


def with_its_state(start: Step, host: HostFacts, accepted: str = "") -> Step:
    """Return a start that begins only while the node's state file names its data.

    Begun again after it broke off, only an SST could bring a node that has no state left: nobody accepted one.

    Args:
        accepted: the name under which the run keeps that somebody did.
    """
    named = StateNamed(host.host, host[DataFolder].path or DEFAULT_DATADIR, accepted)
    return replace(start, before=(*start.before, named))


def without_undo(step: Step) -> Step:
    """Return a start of a node that was up before the run: what takes the run back leaves it up."""
    return replace(step, undo=None, why="The node was up before the run; rolling the run back leaves it up.")


def prove_transfer(
    host: HostFacts, kind: Literal["IST", "SST", "any"], donor: str, start_step: str, prefix: str = ""
) -> Step:
    """Read in the joiner's log which transfer brought it back."""
    name = host.host
    condition = TransferWas(name, kind, donor, start_step)
    return Step(
        step_id=f"{prefix}transfer-{name}",
        host=name,
        title=f"Verify in the log of {name} that it joined by {'IST or SST' if kind == 'any' else kind}",
        done=f"The log of {name} shows how it joined",
        action=WaitFor((condition,), f"the log of {name}"),
        risk=Risk.READS,
        limit_s=30.0,
        repeatable=True,
        estimate_s=1.0,
    )


def queue_settled(host: HostFacts, for_s: float, prefix: str = "", limit_s: float = 600.0) -> Step:
    """Wait until the node has caught up and stays so."""
    name = host.host
    condition = StatusIs(name, "wsrep_local_recv_queue", "<", "10", for_s=for_s)
    return Step(
        step_id=f"{prefix}settle-{name}",
        host=name,
        title=f"Verify that the receive queue of {name} stays below 10 for {for_s:g} s",
        done=f"{name} keeps up",
        action=WaitFor((condition,), f"the receive queue of {name}"),
        risk=Risk.READS,
        limit_s=limit_s + for_s,
        repeatable=True,
        estimate_s=for_s,
    )


def whole_again(facts: Facts, hosts: tuple[str, ...], prefix: str = "", limit_s: float = 120.0) -> Step:
    """Prove that every member is Synced in one view with one state."""
    condition = ClusterWhole(hosts, len(hosts) + arbitrators(facts), facts.cluster_id)
    return Step(
        step_id=f"{prefix}whole",
        host="",
        title=f"Verify {len(hosts)} members, one state UUID, all Synced",
        done=f"{len(hosts)} members, one state UUID, all Synced",
        action=WaitFor((condition,), "every member to be Synced in one view"),
        risk=Risk.READS,
        limit_s=limit_s,
        repeatable=True,
        estimate_s=2.0,
    )


def plan_the_rest(step_id: str, title: str, known_now: str, *, serves: bool = False) -> Step:
    """Return the step at which the rest is planned from what the run found, shown and approved.

    Args:
        title: what is looked at first; known_now: why the rest could not be planned before.
    """
    return Step(
        step_id=step_id,
        host="",
        title=f"{title}, and show the rest of the plan",
        done="The rest of the plan was made and approved",
        action=Continue(known_now),
        risk=Risk.READS,
        limit_s=86_400.0,
        repeatable=True,
        serves=serves,
    )
