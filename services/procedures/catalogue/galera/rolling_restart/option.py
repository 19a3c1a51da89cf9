"""The option that a rolling restart changes: each node is judged as it will start, not as it runs now. Pure.

A start reads the files with the new value in them; what the server runs with now is past by then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.facts.masking import masked
from services.facts.server.harmless_options import is_secret, normal
from services.facts.server.values import OFF_WORDS, same
from services.procedures.catalogue.galera.rolling_restart.provider_string import value_for, would_drop
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.starting import Starting, temporary_folders
from services.procedures.plan.parts.server.variables import Variables

NOT_GIVEN_HERE = (
    "This value is or contains a secret, and the journal stores the plan: do not enter it here. Run this without an "
    "option and with work=yes: the run waits at each stopped node until you have written it to that node's files."
)
_READ_ONLY = {"read_only", "super_read_only", "transaction_read_only", "tx_read_only"}
_METHODS = ("mariabackup", "rsync", "mysqldump", "xtrabackup-v2", "xtrabackup", "clone", "rsync_wan")
"""The scripts wsrep_sst_METHOD that servers bring (MariaDB KB "Introduction to State Snapshot Transfers"; Percona
XtraDB Cluster manual, "State snapshot transfer"); another one may be a person's own."""


def holds_secret(option: str, value: str) -> bool:
    """Return whether an option's value is a secret by its name, or has one in it (a password in provider options)."""
    return is_secret(option) or masked(value) != value or masked(f"{option}={value}") != f"{option}={value}"


def as_planned(facts: Facts, nodes: tuple[str, ...], option: str, value: str) -> Facts:
    """Return the facts with these nodes' options and variables as they will be once the option is written."""
    if not option:
        return facts
    name = normal(option)
    return replace(
        facts, hosts=tuple(_planned(h, name, value_for(h, name, value)) if h.host in nodes else h for h in facts.hosts)
    )


def _planned(host: HostFacts, name: str, value: str) -> HostFacts:
    options = host[Options]
    if not options.known:
        return host  # files that were not read stay unread: one option more is no knowledge of the rest
    given = tuple(one for one in options.given if (one[0], one[1]) != ("mysqld", name))
    variables = tuple(one for one in host[Variables].values if one[0] != name)
    later = host.with_part(replace(options, given=(*given, ("mysqld", name, value))))
    later = later.with_part(replace(host[Variables], values=variables))
    rooms = dict(host[Starting].temporary)
    folders = tuple((path, rooms.get(path)) for path in temporary_folders(later))
    return later.with_part(replace(host[Starting], temporary=folders))


def option_known(facts: Facts, nodes: tuple[str, ...], option: str, value: str) -> Check:
    """What the option is now and becomes; what keeps a node from taking writes or a transfer is told, or blocks."""
    name = normal(option)
    if not option:
        return Check("OPTION", "The server knows the option", Verdict.PASS, "no option is changed")
    now = [
        (host, facts.host(host)[Options].option("mysqld", name), facts.host(host)[Variables].shown(name))
        for host in nodes
    ]
    present = ", ".join(
        f"{host}: {text if text is not None else 'not set in its files'}"
        + (f" (running: {running})" if running is not None else "")
        for host, text, running in now
    )
    harm = _masked_beside(facts, nodes, name, value) or _harm(name, value)
    merged = _merged(facts, nodes, name, value)
    return Check(
        code="OPTION",
        title="The server knows the option",
        verdict=harm.verdict,
        evidence=f"{name} becomes {masked(value)}; in the option files now: {present}"
        + (f"; {merged}" if merged else "")
        + (f"; {harm.what}" if harm.what else ""),
        why="The server itself tests each node's new configuration before the node is stopped. This shows "
        "whether it knows the option, not the effect on the cluster.",
        try_=(harm.advice,) if harm.advice else (),
        absolute=harm.absolute,
    )


def _merged(facts: Facts, nodes: tuple[str, ...], name: str, value: str) -> str:
    """Say which keys of the provider's string the value alone would drop, and what is written instead."""
    found = []
    for node in nodes:
        if dropped := would_drop(facts.host(node), name, value):
            whole = masked(value_for(facts.host(node), name, value))
            found.append(
                f"{node}: on its own it would drop {masked(', '.join(dropped))}, so it is merged by key to '{whole}'"
            )
    return "; ".join(found)


def _masked_beside(facts: Facts, nodes: tuple[str, ...], name: str, value: str) -> _Harm | None:
    """A secret among the keys that stay is not known here, and would not be in the journal: it can't be written."""
    held = [n for n in nodes if would_drop(facts.host(n), name, value)]
    whole = {n: value_for(facts.host(n), name, value) for n in held}
    secret = [n for n, text in whole.items() if "****" in text or holds_secret(name, text)]
    if not secret:
        return None
    what = f"the string in the files of {', '.join(secret)} contains a secret, which the merged string would lose"
    return _Harm(Verdict.BLOCK, what, NOT_GIVEN_HERE, True)


@dataclass(frozen=True, slots=True)
class _Harm:
    """What a value does to the members, and what to do instead; nothing known of it passes."""

    verdict: Verdict = Verdict.PASS
    what: str = ""
    advice: str = ""
    absolute: bool = False


def _harm(name: str, value: str) -> _Harm:
    on = value.strip().lower() not in OFF_WORDS
    if name == "innodb_force_recovery" and not same("0", value):
        what = "InnoDB of each node would ignore damage, and from 4 on accept no writes"
        return _Harm(
            Verdict.BLOCK, what, "Set it manually on one node only, for a repair outside of the cluster.", True
        )
    if name == "innodb_read_only" and on:
        return _Harm(Verdict.BLOCK, "InnoDB of each node would accept no writes", "Leave innodb_read_only OFF.", True)
    if name in _READ_ONLY and on:
        return _Harm(
            Verdict.WARN, "clients cannot write to these nodes afterwards", "Leave it OFF unless this is intended."
        )
    if name == "wsrep_sst_method" and value.strip().lower() not in _METHODS:
        what = f"{value} is not a method that servers include ({', '.join(_METHODS)})"
        advice = f"Check each node for the program wsrep_sst_{value}: without it the node does not come back."
        return _Harm(Verdict.BLOCK, what, advice)
    return _Harm()
