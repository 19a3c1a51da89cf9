"""Steps that several Galera procedures are built of: keep down, name the donor, stop, start, prove. All pure.

Sources: systemd.service(5) (Restart=), systemd.unit(5) (drop-ins under /run), MariaDB KB "wsrep_sst_donor" (a trailing
comma lets the node take another donor), MariaDB KB "wsrep_reject_queries".
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import Literal

from services.connections.command import Command
from services.connections.statement import Keyword, set_global
from services.procedures.actions import PutFile, RemoveFile, Run, Several, Sql, WaitFor
from services.procedures.conditions import (
    CleanPosition,
    ClusterWhole,
    Condition,
    FileAbsent,
    Joined,
    NoClients,
    Number,
    OptionIs,
    StatusIs,
    StillPrimary,
    Stopped,
    TransferWas,
    UnitSetting,
    VariableIs,
)
from services.procedures.facts_model import Facts, HostFacts
from services.procedures.model import Obligation, Risk, Step, Undo

RELOAD = Run(Command(("systemctl", "daemon-reload"), sudo=True))
DONOR_FILE = "99-pilothouse-donor.cnf"
DEFAULT_FOLDER = "/etc/mysql/conf.d"
BOOTSTRAP_UNIT = "mysql@bootstrap.service"
"""The unit that a bootstrapped PXC node runs under (PXC manual, "Bootstrap the first node")."""
START_FIXED_S, STOP_FIXED_S = 20.0, 10.0


def systemctl(verb: str, unit: str, *flags: str) -> Run:
    """Return `sudo systemctl VERB [FLAGS] UNIT`."""
    return Run(Command(("systemctl", verb, *flags, unit), sudo=True))


def unit_of(host: HostFacts) -> str:
    """Return the host's database unit; the Debian package's name where none was seen."""
    return host.unit or "mariadb.service"


def start_unit_of(host: HostFacts) -> str:
    """Return the unit that a node is started with: PXC's mysql@bootstrap would found a second cluster each time."""
    unit = unit_of(host)
    return "mysql.service" if unit == BOOTSTRAP_UNIT else unit


def option_folder(host: HostFacts) -> str:
    """Return the folder of option files that this host's server reads last, for a file of our own."""
    folders = [posixpath.dirname(path) for path, _ in host.option_files if posixpath.dirname(path).endswith(".d")]
    return folders[-1] if folders else DEFAULT_FOLDER


# -- automatic restart ------------------------------------------------------------------------------------------------


def _drop_in(unit: str) -> str:
    return f"/run/systemd/system/{unit}.d/90-pilothouse.conf"


def _restarts_again(host: str, unit: str) -> tuple[Condition, ...]:
    """The file is gone and systemd knows it: a console killed before the reload leaves Restart=no in force.

    NeedDaemonReload tells that files changed behind systemd (org.freedesktop.systemd1(5)).
    """
    return (FileAbsent(host, _drop_in(unit)), UnitSetting(host, unit, "NeedDaemonReload", "no"))


def restart_off(host: HostFacts, prefix: str = "") -> Step:
    """Keep systemd from restarting a node that aborts: its second start would take an SST over the data to be kept."""
    unit, name = start_unit_of(host), host.host
    path = _drop_in(unit)
    release = Several((RemoveFile(path), RELOAD))
    released = _restarts_again(name, unit)
    return Step(
        step_id=f"{prefix}restart-off-{name}",
        host=name,
        title=f"Switch systemd's automatic restart of {unit} off on {name}",
        done=f"{unit} on {name} is not restarted by itself",
        why="A node that aborts would be restarted within seconds, and its second start may overwrite its data by SST.",
        action=Several((PutFile(path, ("[Service]\nRestart=no\n",)), RELOAD)),
        already=(),
        proof=(UnitSetting(name, unit, "Restart", "no"),),
        undo=Undo(f"Give {unit} on {name} its automatic restart back", release, released),
        repeatable=True,
        takes=Obligation(
            key=restart_key(name),
            host=name,
            sentence=f"automatic restart off on {name}",
            release=release,
            release_proof=released,
            danger=f"a crash of {name} is not followed by a restart",
        ),
        estimate_s=1.0,
    )


def restart_key(host: str) -> str:
    """Return the obligation's key."""
    return f"restart:{host}"


def restart_on(host: HostFacts, prefix: str = "") -> Step:
    """Discharge `restart_off`."""
    unit, name = start_unit_of(host), host.host
    path = _drop_in(unit)
    return Step(
        step_id=f"{prefix}restart-on-{name}",
        host=name,
        title=f"Give {unit} on {name} its automatic restart back",
        done=f"{unit} on {name} is restarted by itself again",
        action=Several((RemoveFile(path), RELOAD)),
        proof=_restarts_again(name, unit),
        why="It ends what the run switched on; there is nothing to take back.",
        repeatable=True,
        discharges=(restart_key(name),),
        estimate_s=1.0,
    )


# -- the donor of one start -------------------------------------------------------------------------------------------


def donor_key(host: str) -> str:
    """Return the obligation's key."""
    return f"donor:{host}"


def name_donor(host: HostFacts, donor_name: str, prefix: str = "") -> Step:
    """Name the donor for the next start only; the comma lets Galera take another when this one is busy."""
    name = host.host
    path = posixpath.join(option_folder(host), DONOR_FILE)
    release = RemoveFile(path)
    released: tuple[Condition, ...] = (FileAbsent(name, path),)
    return Step(
        step_id=f"{prefix}name-donor-{name}",
        host=name,
        title=f"Name {donor_name} as the donor of {name}'s next start",
        done=f"{name} will ask {donor_name} first",
        why="Galera prefers the donor that is closest to purging; the trailing comma lets it take another when needed.",
        action=PutFile(path, (f"[mysqld]\nwsrep_sst_donor={donor_name},\n",)),
        # What the server will read counts: a file that it reads later may name another donor.
        proof=(OptionIs(name, "mysqld", "wsrep_sst_donor", f"{donor_name},"),),
        undo=Undo(f"Remove the donor file of {name}", release, released),
        repeatable=True,
        takes=Obligation(
            key=donor_key(name),
            host=name,
            sentence=f"donor named for {name}",
            release=release,
            release_proof=released,
            danger=f"{name} keeps asking {donor_name} first at every start",
        ),
        estimate_s=0.5,
    )


def forget_donor(host: HostFacts, before: str = "", prefix: str = "") -> Step:
    """Discharge `name_donor` in the file and in the running server (`before`: the value it had)."""
    name = host.host
    path = posixpath.join(option_folder(host), DONOR_FILE)
    return Step(
        step_id=f"{prefix}forget-donor-{name}",
        host=name,
        title=f"Remove the named donor of {name}",
        done=f"{name} chooses its donor as before",
        why="The name was for one start only; there is nothing to take back.",
        action=Several((RemoveFile(path), Sql(set_global("wsrep_sst_donor", before)))),
        proof=(FileAbsent(name, path), VariableIs(name, "wsrep_sst_donor", before)),
        repeatable=True,
        discharges=(donor_key(name),),
        estimate_s=0.5,
    )


# -- clients ----------------------------------------------------------------------------------------------------------


def reject_key(host: str) -> str:
    """Return the obligation's key."""
    return f"reject:{host}"


def reject_queries(host: HostFacts, prefix: str = "", *, cut: bool = False) -> Step:
    """Let the server refuse client statements (a drain where no balancer does it); `cut` closes open sessions too."""
    name = host.host
    release = Sql(set_global("wsrep_reject_queries", Keyword("NONE")))
    released: tuple[Condition, ...] = (VariableIs(name, "wsrep_reject_queries", "NONE"),)
    mode = "ALL_KILL" if cut else "ALL"
    return Step(
        step_id=f"{prefix}reject-{name}",
        host=name,
        title=f"Let {name} refuse client statements" + (" and close their sessions" if cut else ""),
        done=f"{name} refuses client statements",
        why="Clients and balancers that look at real queries leave the node before it goes down.",
        action=Sql(set_global("wsrep_reject_queries", Keyword(mode))),
        proof=(VariableIs(name, "wsrep_reject_queries", mode),),
        undo=Undo(f"Let clients back to {name}", release, released),
        repeatable=True,
        takes=Obligation(
            key=reject_key(name),
            host=name,
            sentence=f"clients refused on {name}",
            release=release,
            release_proof=released,
            danger=f"applications get errors from {name}",
        ),
        estimate_s=0.5,
    )


def accept_queries(host: HostFacts, prefix: str = "") -> Step:
    """Discharge `reject_queries` (a restart has done it already; this makes sure)."""
    name = host.host
    return Step(
        step_id=f"{prefix}accept-{name}",
        host=name,
        title=f"Let clients back to {name}",
        done=f"{name} serves clients",
        why="It ends what the run switched on; there is nothing to take back.",
        action=Sql(set_global("wsrep_reject_queries", Keyword("NONE"))),
        proof=(VariableIs(name, "wsrep_reject_queries", "NONE"),),
        repeatable=True,
        discharges=(reject_key(name),),
        estimate_s=0.5,
    )


def wait_no_clients(host: HostFacts, limit_s: float, except_users: tuple[str, ...], prefix: str = "") -> Step:
    """Wait until no client works on the node."""
    name = host.host
    condition = NoClients(name, except_users)
    return Step(
        step_id=f"{prefix}drain-{name}",
        host=name,
        title=f"Wait until no client works on {name}",
        done=f"No client works on {name}",
        action=WaitFor((condition,), f"the last client statement on {name}"),
        risk=Risk.READS,
        limit_s=limit_s,
        repeatable=True,
        estimate_s=min(limit_s, 10.0),
    )


# -- stop and start ---------------------------------------------------------------------------------------------------


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

    Args:
        others: the members that must stay; whole: the members that must be whole just before.
        keep: name under which the position it stopped at is kept; at_least: the lowest one that will do.
        desynced: the node was desynced on purpose before.
    """
    unit, again, name = unit_of(host), start_unit_of(host), host.host
    return Step(
        step_id=f"{prefix}stop-{name}",
        host=name,
        title=f"Stop {unit} on {name}",
        done=f"{name} stopped cleanly",
        action=systemctl("stop", unit),
        risk=Risk.NODE_DOWN,
        before=(ClusterWhole(whole, len(whole), facts.cluster_id, (name,) if desynced else ()),),
        already=(),
        proof=(
            Stopped(name, unit),
            CleanPosition(name, host.datadir, facts.cluster_id, at_least=at_least, keep=keep),
            StillPrimary(others, len(others), facts.cluster_id),
        ),
        limit_s=max(120.0, host.timeout_stop_s or 900.0),
        undo=Undo(
            f"Start {again} on {name} again",
            systemctl("start", again, "--no-block"),
            (Joined(name, facts.cluster_id, again),),
            limit_s=1_800.0,
        ),
        repeatable=True,
        cancellable=False,
        moves=name,
        estimate_s=STOP_FIXED_S,
    )


def start_node(
    facts: Facts,
    host: HostFacts,
    *,
    limit_s: float,
    prefix: str = "",
    estimate_s: float | None = None,
    before_undo: tuple[Condition, ...] = (),
) -> Step:
    """Start a node and wait until it is joined: 'started' is not 'joined'.

    Args:
        before_undo: what must hold before it is stopped again: that it is not the one that keeps the cluster up.
    """
    unit, name = start_unit_of(host), host.host
    return Step(
        step_id=f"{prefix}start-{name}",
        host=name,
        title=f"Start {unit} on {name} and wait for Synced",
        done=f"{name} is Synced",
        why="systemd says 'active' long before the node is a member; only its own state counts.",
        action=systemctl("start", unit, "--no-block"),
        before=(Stopped(name, unit),),
        already=(Joined(name, facts.cluster_id, unit),),
        proof=(Joined(name, facts.cluster_id, unit),),
        limit_s=limit_s,
        undo=Undo(f"Stop {unit} on {name}", systemctl("stop", unit), (Stopped(name, unit),), 900.0, before_undo),
        repeatable=True,
        cancellable=False,
        moves=name,
        settles=(name,),
        estimate_s=estimate_s if estimate_s is not None else START_FIXED_S,
    )


def without_undo(step: Step) -> Step:
    """Return a start of a node that was up before the run: what takes the run back leaves it up."""
    return replace(step, undo=None, why="The node was up before the run; taking the run back leaves it up.")


def prove_transfer(
    host: HostFacts, kind: Literal["IST", "SST", "any"], donor: str, start_step: str, prefix: str = ""
) -> Step:
    """Read in the joiner's log which transfer brought it back."""
    name = host.host
    condition = TransferWas(name, kind, donor, start_step)
    return Step(
        step_id=f"{prefix}transfer-{name}",
        host=name,
        title=f"Prove from {name}'s log that it came by {'IST or SST' if kind == 'any' else kind}",
        done=f"{name}'s log says how it came",
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
        title=f"Watch {name}'s receive queue stay below 10 for {for_s:g} s",
        done=f"{name} keeps up",
        action=WaitFor((condition,), f"the receive queue of {name}"),
        risk=Risk.READS,
        limit_s=limit_s + for_s,
        repeatable=True,
        estimate_s=for_s,
    )


def whole_again(facts: Facts, hosts: tuple[str, ...], prefix: str = "", limit_s: float = 120.0) -> Step:
    """Prove that every member is Synced in one view with one state."""
    condition = ClusterWhole(hosts, len(hosts), facts.cluster_id)
    return Step(
        step_id=f"{prefix}whole",
        host="",
        title=f"Prove {len(hosts)} members, one state UUID, all Synced",
        done=f"{len(hosts)} members, one state UUID, all Synced",
        action=WaitFor((condition,), "every member to be Synced in one view"),
        risk=Risk.READS,
        limit_s=limit_s,
        repeatable=True,
        estimate_s=2.0,
    )
