"""Conditions about a host: free disk, a TCP way, a unit's setting, a server that is stopped."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts import reads
from services.facts.machine import parse_df, parse_process
from services.facts.reading import count
from services.procedures.engine.ports import Past
from services.procedures.engine.remembering import MOST_GAP_S
from services.procedures.gather.links import outcome_of
from services.procedures.gather.system import properties
from services.procedures.plan.conditions import Answer, FreeDisk, Listening, Stopped, UnitFresh, UnitSetting
from services.procedures.verify.asking import Asking

_HELD = {
    "T": ", held by a signal: it can end only when it goes on (kill -CONT {pid})",
    "t": ", held by a debugger",
    "D": ", in an uninterruptible wait, as a rule for its disk",
}
"""ps(1), PROCESS STATE CODES: why a server that was told to stop does not."""
_DEAF_S = 60.0


def free_disk(condition: FreeDisk, asking: Asking, past: Past) -> Answer:
    """Ask df for what ordinary users may still take."""
    del past
    output = asking.run(condition.host, commands.DISK.read(reads.clean(condition.path), sudo=True))
    disks = parse_df(output.text)
    free = disks[0].free if disks else None
    if free is None:
        said = output.stderr.decode("utf-8", "replace").strip()
        return Answer(holds=None, evidence=said or f"the free disk of {condition.host} could not be read")
    said = f"{free / 1e9:.2f} GB are free at {condition.path} on {condition.host}"
    return Answer(free >= condition.at_least, f"{said}; at least {condition.at_least / 1e9:.2f} GB are wanted")


def listening(condition: Listening, asking: Asking, past: Past) -> Answer:
    """Try one TCP connection from the host."""
    del past
    output = asking.run(condition.host, commands.TCP_TRIED.read(condition.address, condition.port), limit_s=8.0)
    outcome, said = outcome_of(output)
    way = f"{condition.host} to {condition.address} port {condition.port}: {outcome} ({said})"
    return Answer(holds=None if outcome == "unknown" else outcome == "open", evidence=way)


def unit_setting(condition: UnitSetting, asking: Asking, past: Past) -> Answer:
    """Ask systemd for one property of a unit."""
    del past
    output = asking.run(condition.host, commands.UNIT_PROPERTY.read(condition.prop, condition.unit))
    found = properties(output.text)
    if output.exit_code or condition.prop not in found:
        said = output.stderr.decode("utf-8", "replace").strip()
        return Answer(holds=None, evidence=said or f"systemd gives no {condition.prop} of {condition.unit}")
    value = found[condition.prop]
    return Answer(value == condition.value, f"{condition.prop} of {condition.unit} is {value} on {condition.host}")


def unit_fresh(condition: UnitFresh, asking: Asking, past: Past) -> Answer:
    """Ask systemd for the unit's description and main process, and ps(1) for how long that runs (etimes)."""
    del past
    host, unit = condition.host, condition.unit
    output = asking.run(host, commands.UNIT_PROCESS.read(unit))
    found = properties(output.text)
    if output.exit_code or "ActiveState" not in found:
        said = output.stderr.decode("utf-8", "replace").strip()
        return Answer(holds=None, evidence=said or f"systemd gives no state of {unit} on {host}")
    if found["ActiveState"] != "active":
        return Answer(holds=False, evidence=f"{unit} is {found['ActiveState']} on {host}")
    pid = count(found.get("MainPID", ""))
    age = count(asking.run(host, commands.PROCESS_AGE.read(pid)).text.strip()) if pid else None
    if age is None:
        return Answer(holds=None, evidence=f"since when {unit} runs on {host} is not known")
    told = found.get("Description", "")
    holds = told == condition.description and age <= condition.at_most_s
    return Answer(holds, f"{unit} runs on {host} for {age} s: {told or 'no description'}")


def stopped(condition: Stopped, asking: Asking, past: Past) -> Answer:
    """No server process and no unit that runs, starts or stops."""
    del past
    listing = asking.run(condition.host, reads.PROCESS)
    if listing.exit_code not in {0, 1} or (listing.exit_code == 1 and listing.stderr.strip()):
        return Answer(holds=None, evidence=f"the processes of {condition.host} could not be read")
    state, pid = parse_process(listing.text)
    shown = properties(asking.run(condition.host, commands.UNIT_STOPPING.read(condition.unit)).text)
    active = shown.get("ActiveState", "")
    if state not in {"", "Z"}:
        held = _HELD.get(state, "").format(pid=pid)
        told = f"the server still runs on {condition.host} (pid {pid}){held}{_stopping(condition.unit, shown)}"
        return Answer(holds=False, evidence=told + _deaf(condition, asking, stopping=active == "deactivating"))
    if not active:
        return Answer(holds=None, evidence=f"systemd gives no state of {condition.unit} on {condition.host}")
    evidence = f"no server process on {condition.host}; {condition.unit} is {active}"
    return Answer(active in {"inactive", "failed"}, evidence)


def _deaf(condition: Stopped, asking: Asking, *, stopping: bool) -> str:
    """Return what a person may do about a server that has not heeded SIGTERM for a minute.

    Seen on the lab (MariaDB 10.11.18): one that opened its group by gvwstate.dat and waits for a Primary Component
    serves nobody yet, waits without end, and does not heed SIGTERM meanwhile.
    """
    key = ("deaf", condition.host, condition.unit)
    if not stopping:
        asking.memory.broke(key)
        return ""
    if asking.memory.held_s(key, asking.clock, MOST_GAP_S) < _DEAF_S:
        return ""
    return (
        f"; it has not heeded SIGTERM for a minute: where it only waits for its cluster, "
        f"'systemctl kill --signal=KILL {condition.unit}' on {condition.host} ends it, and its next start recovers"
    )


def _stopping(unit: str, shown: dict[str, str]) -> str:
    """Return what systemd does about it; '' while nobody has told it to stop."""
    if shown.get("ActiveState") != "deactivating":
        return ""
    limit = shown.get("TimeoutStopUSec", "")
    return f"; {unit} is stopping ({shown.get('SubState', '')}){f', systemd gives it {limit}' if limit else ''}"
