"""Changing the [sst] section on all nodes of a cluster so that no state transfer begins in between. All pure.

The scripts read their options each time they run (facts/transfer/sst_options.py), so no server is restarted; but a
joiner and a donor that read different ones wait for each other for minutes, or the joiner fails with its data dropped.
So every start of a node is held off first (a drop-in whose ExecStartPre waits until its own line is gone: a
colleague's `systemctl start` goes on by itself afterwards), nobody may be joining already, all files are written
within seconds, and the starts are let go only once all hosts give the scripts the same, or what they gave before:
whatever way out is taken. Not known is not enough for that.

A node that loses its connection and comes back asks for an IST alone, without these scripts (MariaDB,
sql/wsrep_sst.cc, wsrep_sst_prepare: a server whose storage engines run takes no SST): it needs no hold.

Sources: systemd.service(5) (ExecStartPre=, TimeoutStartSec=), systemd.unit(5) (drop-ins; under /etc, so that a host
that boots meanwhile does not join either); tried with MariaDB 10.11.18 on Debian 12, whose unit may start for 900 s.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.facts.server.harmless_options import normal
from services.facts.server.start_line import holding
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.steps.server import RELOAD, option_folder, start_unit_of
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.galera.config.sst_section import Settings, SstGives, SstSame
from services.procedures.conditions.galera.membership.nobody_joins import NobodyJoins
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.machine.drop_in import DropInFollowed
from services.procedures.conditions.machine.files import FileSays, FileWithout
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.plan.actions import EditOptions, PutFile, RemoveFile, RestoreFile, Several, WaitFor
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step, Undo
from services.procedures.plan.parts.galera.drop_ins import HOLD, hold_folder
from services.procedures.plan.parts.galera.sst_options import SstOptions

OWN_FILE = "zz-pilothouse-sst.cnf"
"""A file of our own, where no [sst] stands yet: read as the last one of its folder."""
LONGEST_HOLD_S = 600
"""Then a held start fails instead of beginning by what may be half changed; systemd gives MariaDB's unit 900 s."""
LONGEST_JOIN_S = 300.0
"""So long a join that had begun before may take; then nothing is changed."""
SECTION = "sst"


def section_path(host: HostFacts) -> str:
    """Return the file whose [sst] is edited: the last one that has something of it, else one of our own."""
    files = host[SstOptions].section_files
    return files[-1] if files else posixpath.join(option_folder(host), OWN_FILE)


def former(host: HostFacts, options: Settings) -> Settings:
    """Return what the scripts find of these options now."""
    return tuple((normal(name), host[SstOptions].value(name)) for name, _ in options)


def same_on_all(facts: Facts, hosts: tuple[str, ...], options: Settings) -> SstSame:
    """Return what must hold before a start is let go: all as the run sets them, or all as before it."""
    before = tuple((name, former(facts.host(name), options)) for name in hosts)
    return SstSame(hosts, tuple(name for name, _ in options), before)


def changed_on_all(
    facts: Facts, hosts: tuple[str, ...], options: Settings, within: tuple[Step, ...] = (), prefix: str = ""
) -> tuple[Step, ...]:
    """Return the steps that set these options of [sst] on all hosts in one go, joins held off meanwhile.

    Args:
        hosts: every member that may be started: a node that is left out would keep the old options.
        options: the same for all of them; None removes one.
        within: steps between the hold and the first change: what has to be proven while nobody joins.
    """
    same = same_on_all(facts, hosts, options)
    everyone = tuple(facts.host(name) for name in hosts)
    return (
        *(hold_joins(host, same, prefix) for host in everyone),
        nobody_joins(facts, hosts, prefix),
        *within,
        *(_edit(facts, hosts, host, options, prefix) for host in everyone),
        _proven(hosts, same, options, prefix),
        *(let_joins(host, same, prefix) for host in everyone),
    )


# -- joins held off ----------------------------------------------------------------------------------------------------


def hold_path(host: HostFacts) -> str:
    """Return the drop-in that holds the starts of a node off."""
    return f"{hold_folder(start_unit_of(host))}/{HOLD}"


def _hold(host: HostFacts, same: SstSame) -> Temporary:
    unit, name, path = start_unit_of(host), host.host, hold_path(host)
    return Temporary(
        key=f"joins:{name}",
        host=name,
        sentence=f"starts of {unit} wait on {name}",
        danger=f"{name} cannot be started; manually: remove {path} and run systemctl daemon-reload, but only if [sst] "
        "is the same on all nodes",
        release=Several((RemoveFile(path, _waiting(path)), RELOAD)),
        released=(FileWithout(name, path, _waiting(path)), UnitSetting(name, unit, "NeedDaemonReload", "no")),
        release_once=(same,),
    )


def hold_joins(host: HostFacts, same: SstSame, prefix: str = "") -> Step:
    """Let every start of a node wait: by a person, by systemd after a crash, by anybody."""
    unit, name, path = start_unit_of(host), host.host, hold_path(host)
    step = Step(
        step_id=f"{prefix}hold-{name}",
        host=name,
        title=f"Make starts of {unit} on {name} wait until all nodes have the same settings",
        done=f"starts of {unit} on {name} wait",
        why="A node that joins meanwhile would use other settings than its donor; a start now waits and "
        f"continues automatically afterwards (after {LONGEST_HOLD_S} s the start fails).",
        action=_held(path),
        proof=_is_held(host),
        repeatable=True,
        estimate_s=1.0,
    )
    return _hold(host, same).on(step, f"Allow starts of {unit} on {name} again")


def let_joins(host: HostFacts, same: SstSame, prefix: str = "") -> Step:
    """Discharge `hold_joins`: what waited goes on. Taken back, starts wait again before a file is put back."""
    unit, name, path = start_unit_of(host), host.host, hold_path(host)
    title, done = f"Allow starts of {unit} on {name} again", f"{unit} on {name} can be started again"
    again = Undo(
        f"Make starts of {unit} on {name} wait again",
        _held(path),
        _is_held(host),
        limit_s=60.0,
        takes=hold_joins(host, same, prefix).takes,
    )
    why = "It ends a temporary change of the run; a rollback from here switches it on again first."
    return replace(_hold(host, same).off(f"{prefix}let-{name}", title, done, 1.0), undo=again, why=why)


def _held(path: str) -> Several:
    return Several((PutFile(path, (_waiting(path),)), RELOAD))


def _is_held(host: HostFacts) -> tuple[FileSays | DropInFollowed, ...]:
    """Return what shows that starts wait: systemd follows the drop-in, and nobody took the run's line out of it."""
    path = hold_path(host)
    return (FileSays(host.host, path, holding(path)), DropInFollowed(host.host, start_unit_of(host), path))


def _waiting(path: str) -> str:
    """Return a drop-in whose start waits for its own line to go; $$ is systemd's for a dollar (systemd.service(5)).

    What somebody else wrote into the file outlives the run: a start that waited for the file to go waited on.
    """
    loop = (
        f'n=0; while grep -qs "{holding(path)}" {path}; do n=$$((n+1)); '
        f"if [ $$n -gt {LONGEST_HOLD_S} ]; then echo Pilothouse holds joins off: see {path} >&2; exit 1; fi; "
        "sleep 1; done"
    )
    said = "# Pilothouse changes the settings of state transfers: a start waits until the run ends, or this line goes:"
    return f"{said}\n[Service]\nExecStartPre=/bin/sh -c '{loop}'\n"


def _joining(facts: Facts, hosts: tuple[str, ...]) -> NobodyJoins:
    return NobodyJoins(hosts, tuple(start_unit_of(facts.host(name)) for name in hosts), HOLD)


def nobody_joins(facts: Facts, hosts: tuple[str, ...], prefix: str = "") -> Step:
    """Wait until no node is joining: what had begun before the hold was there."""
    whole = ClusterWhole(hosts, len(hosts) + arbitrators(facts), facts.cluster_id)
    return Step(
        step_id=f"{prefix}nobody-joins",
        host="",
        title="Verify that no node joins and no state transfer runs",
        done="no node joins, no transfer runs",
        why="A transfer that is already running would continue with the old settings, or read some of the new ones.",
        action=WaitFor((_joining(facts, hosts), whole), "no node to be joining"),
        risk=Risk.READS,
        limit_s=LONGEST_JOIN_S,
        repeatable=True,
        estimate_s=1.0,
    )


# -- the files ---------------------------------------------------------------------------------------------------------


def _edit(facts: Facts, hosts: tuple[str, ...], host: HostFacts, options: Settings, prefix: str) -> Step:
    """Change one host's file while starts wait on all; put back it is only while nobody joins by the new settings.

    The undo of the last one begins with files that are all alike: only while starts wait on all. Those of the others
    make files alike that differ.
    """
    name, path, joining = host.host, section_path(host), _joining(facts, hosts)
    held = tuple(one for n in hosts for one in _is_held(facts.host(n)))
    return Step(
        step_id=f"{prefix}section-{name}",
        host=name,
        title=f"Set {', '.join(name for name, _ in options)} in [{SECTION}] of {path} on {name}",
        done=f"[{SECTION}] of {path} on {name} is changed",
        action=EditOptions(path, SECTION, options),
        before=held,  # nobody joined when all of them were on: whoever starts since then waits
        proof=(SstGives(name, options),),
        limit_s=20.0,
        undo=Undo(
            f"Restore {path} on {name}",
            RestoreFile(path),
            (SstGives(name, former(host, options)),),
            limit_s=30.0,
            before=held if name == hosts[-1] else (),
            waits=(joining,),
            waits_s=LONGEST_JOIN_S,
        ),
        repeatable=True,
        cancellable=False,
        estimate_s=1.0,
    )


def _proven(hosts: tuple[str, ...], same: SstSame, options: Settings, prefix: str) -> Step:
    gives = tuple(SstGives(name, options) for name in hosts)
    return Step(
        step_id=f"{prefix}same",
        host="",
        title=f"Verify that the scripts find the same settings on {', '.join(hosts)}",
        done="the settings are the same on every node",
        why="Only then can a node join: a donor and a joiner with different settings wait for each other.",
        action=WaitFor((same, *gives), "the settings to be the same on every node"),
        risk=Risk.READS,
        limit_s=60.0,
        repeatable=True,
        estimate_s=1.0,
    )
