"""May the console do what the plan says, does anybody else, are clocks and configurations fit?"""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import checked, known, listed, ssh_silent, unread, verdict
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.rights import Rights

CLOCK_WARN_S, CLOCK_BLOCK_S = 1.0, 30.0
"""Certificates and logs are compared across hosts: a second disturbs reading, half a minute breaks the evidence."""


def operator_rights(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """Root over SSH, and an SQL account that may SET GLOBAL where the server runs."""
    return tuple(_rights(host) for host in known(facts, hosts))


def _rights(host: HostFacts) -> Check:
    rights = host[Rights]
    blocks, warns = [], []
    blind = [unread(host, "whether the login can become root", "root", "ssh")] if host.is_root is None else []
    if host.is_root is False:
        blocks.append(f"the login on {host.host} is not root and cannot become root")
    if rights.may_change is False:
        blocks.append(
            f"the SQL account does not have the required privileges on {host.host}: "
            f"{rights.evidence or 'no SET GLOBAL'}"
        )
    elif rights.may_change is None and host.server_up:
        warns.append(f"the privileges of the SQL account on {host.host} are not known: {rights.evidence or 'not read'}")
    good = f"root on {host.host}" + (f"; {rights.evidence}" if rights.evidence else "")
    return Check(
        code="OPERATOR-RIGHTS",
        title=f"The console can change {host.host}",
        each="The console can change each host",
        verdict=verdict([*blocks, *blind], warns),
        not_known=bool(blind or warns) and not blocks,
        evidence="; ".join([*blind, *blocks, *warns]) or good,
        why="If a privilege is missing in the middle of a run, the run stops with the node half changed.",
        try_=_ways_to_rights(host) if blind or blocks or warns else (),
        host=host.host,
    )


def _ways_to_rights(host: HostFacts) -> tuple[str, ...]:
    """Return what to try: of a host that nobody reached no right is known to lack."""
    if host.is_root is None and ssh_silent(host):
        return (f"Repair the SSH connection to {host.host}, then check again.",)
    return ("Grant the login sudo, and add an operator account with SUPER or the wsrep privileges to the inventory.",)


def lock_free(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """No other console works on this cluster."""
    held = [
        f"{h.host}: {h.lock.owner} runs {h.lock.procedure} (run {h.lock.run_id})"
        for h in known(facts, hosts)
        if h.lock is not None
    ]
    blind = [h.host for h in known(facts, hosts) if ssh_silent(h) or any(p.part == "lock" for p in h.problems)]
    return checked(
        "LOCK-FREE",
        "No other console works on this cluster",
        block=held,
        unread=blind,
        evidence="; ".join(held) or (f"the lock of {listed(blind)} could not be read" if blind else "no lock is held"),
        why="Each of two concurrent runs would treat the other's changes as faults.",
        try_=("Wait until that run has ended, or take over its lock if its console is permanently gone.",),
    )


def clocks(facts: Facts, hosts: tuple[str, ...], *, blocks: bool = True) -> Check:
    """The hosts' clocks agree with one another.

    Args:
        blocks: far apart, nothing begins; else it is told only: no proof of a run depends on a host's clock.
    """
    offsets = {
        h.host: h.node.machine.clock_offset_s
        for h in known(facts, hosts)
        if h.node is not None and h.node.machine is not None and h.node.machine.clock_offset_s is not None
    }
    blind = [h.host for h in known(facts, hosts) if h.host not in offsets]
    spread = max(offsets.values()) - min(offsets.values()) if offsets else 0.0
    state = verdict(blocks and spread > CLOCK_BLOCK_S, spread > CLOCK_WARN_S or blind)
    evidence = ", ".join(f"{name} {offset:+.2f} s" for name, offset in offsets.items())
    if blind:
        evidence = "; ".join(part for part in (evidence, f"not read: {', '.join(blind)}") if part)
    return Check(
        code="CLOCKS",
        title="The clocks agree",
        verdict=state,
        not_known=bool(blind) and spread <= CLOCK_WARN_S,
        evidence=f"{evidence} (against this workstation; {spread:.2f} s apart)",
        why="Certificates, logs and point-in-time recovery compare the hosts' times.",
        try_=("Synchronize the clocks with chrony or systemd-timesyncd.",) if state is not Verdict.PASS else (),
    )


def config_valid(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """The server program accepts the option files as they are now."""
    return tuple(_config(host) for host in known(facts, hosts))


def _config(host: HostFacts) -> Check:
    program = host[Program]
    blind = [] if program.checked else [unread(host, "whether the server accepts its option files", "config")]
    return checked(
        "CONFIG-VALID",
        f"{host.host}'s server accepts its option files",
        each="Each host's server accepts its option files",
        block=[program.fault] if program.fault else [],
        unread=[] if program.fault else blind,
        good=f"{program.text or 'the server'} reads them without errors",
        why="A node that fails to start because of an option may lose its state and need an SST.",
        try_=("Correct the option, then check again.",),
        host=host.host,
    )
