"""One running server: its variables, who works on it, what the account may, and its write rate out of two looks."""

from __future__ import annotations

from dataclasses import replace

from services.clock import Clock
from services.connections.ports import Rows, text
from services.connections.reads import commands, statements
from services.facts.harmless_options import is_secret
from services.facts.option_files import provider_options_of
from services.facts.reading import count, real, words
from services.facts.sessions import may_change, parse_sessions, sst_account_of
from services.procedures.gather.disk import durability_of
from services.procedures.gather.reader import Reader
from services.procedures.plan.host_facts import HostFacts, Rates
from services.sampling.ist_reach import HEADER_BYTES

_NO_LOGIN = frozenset({"auth-failed", "secret-missing"})


def with_variables(host: HostFacts, reader: Reader) -> HostFacts:
    """Read the settings that only the running server knows whole."""
    rows = reader.query("variables", statements.VARIABLES)
    if rows is None:
        return host
    found = rows.pairs()
    return replace(
        host,
        datadir=found.get("datadir", "") or host.datadir,
        node_name=found.get("wsrep_node_name", "") or host.node_name,
        provider_path=found.get("wsrep_provider", ""),
        provider_options=provider_options_of(found.get("wsrep_provider_options", "")),
        durability=durability_of(found),
        variables=tuple((name, words(value, 500)) for name, value in found.items() if not is_secret(name)),
    )


def with_sessions(host: HostFacts, reader: Reader) -> HostFacts:
    """Read who works on the server and for how long its longest transaction is open."""
    own = reader.one("processes", statements.OWN_USER)
    rows = reader.query("processes", statements.SESSIONS)
    if rows is None or own is None:
        return host
    sessions = parse_sessions(rows.rows, own)
    longest = reader.one("transactions", statements.LONGEST_TRANSACTION)
    return replace(
        host,
        client_sessions=len(sessions.clients),
        client_users=sessions.users,
        running_ddl=sessions.ddl,
        async_replicas=sessions.replicas,
        longest_transaction_s=None if longest is None else real(longest or "0"),
    )


def with_rights(host: HostFacts, reader: Reader, operator: Reader | None) -> HostFacts:
    """Judge what the changing account may: its own grants, else root over the server's socket.

    Args:
        operator: reads as the inventory's account for changes; None: changes go by the observer's own account.
    """
    rows = (operator or reader).query("rights", statements.GRANTS)
    able, said = may_change(tuple(text(row[0]) for row in rows.rows if row)) if rows is not None else (False, "")
    if operator is not None and rows is None and operator.problems:
        why = operator.problems[-1]
        return replace(host, may_change=False if why.code in _NO_LOGIN else None, rights_evidence=why.sentence)
    if not able and host.is_root and operator is None:
        able, said = True, "root over the server's socket"
    return replace(host, may_change=able if able or rows is not None else None, rights_evidence=said)


def with_root_login(host: HostFacts, reader: Reader) -> HostFacts:
    """Try whether root of the host logs in at its server without a password, as a timer or a unit of systemd would."""
    output = reader.run("root-login", commands.ROOT_LOGIN)
    if output is None or (reader.sudo_works is not True and not host.is_root):
        return host
    said = output.stderr.decode("utf-8", "replace").strip()[:200]
    return replace(host, root_login=output.exit_code == 0, root_login_said=said)


def with_sst_account(host: HostFacts, reader: Reader, operator: Reader | None) -> HostFacts:
    """Judge the rights of wsrep_sst_auth's account: the observer rarely sees other accounts' rights, an operator does.

    Args:
        operator: reads as the inventory's account for changes, None without one.
    """
    if not reader.sst_user:
        return host
    for eyes in (reader, operator):
        rows = eyes.query("sst-account", statements.RIGHTS_OF_ALL) if eyes is not None else None
        said = sst_account_of(rows.rows, reader.sst_user) if rows is not None else ""
        if said == "ok":
            return replace(host, sst_account=_sst_login(host, reader))
        if said:
            return replace(host, sst_account=said)
    reader.note("sst-account", "No account of the inventory sees other accounts' rights.", "not-visible")
    return host


def _sst_login(host: HostFacts, reader: Reader) -> str:
    """Return 'ok' where the account of the option files logs in as an SST's script does, else what was said to it.

    '' where that could not be tried: rights alone show nothing of a password.
    """
    output = reader.run("sst-login", commands.SST_LOGS_IN, limit_s=10.0) if host.server_up is not False else None
    if output is None or (reader.sudo_works is not True and not host.is_root):
        reader.note("sst-account", "Its rights are there; its password was not tried, which root alone may.", "sudo")
        return ""
    said = output.stderr.decode("utf-8", "replace").strip()[:200]
    if output.exit_code == 0:
        return "ok"
    if "ERROR 1045" in said or "ERROR 1698" in said:
        return f"the server of {host.host} refuses the SST account {reader.sst_user} with the password of its files"
    reader.note("sst-account", f"Its rights are there; its login could not be tried: {said or output.exit_code}.", "")
    return ""


def with_rates(host: HostFacts, reader: Reader, clock: Clock, first: tuple[float, Rows] | None) -> HostFacts:
    """Measure the write rate since `first` (see `look`), at least two seconds ago."""
    if first is None:
        return host
    began, before = first
    clock.sleep(max(0.0, 2.0 - (clock.monotonic() - began)))
    second = look(reader, clock)
    return host if second is None else replace(host, rates=rates_of(before, second[1], second[0] - began))


def look(reader: Reader, clock: Clock) -> tuple[float, Rows] | None:
    """Return (monotonic seconds, the counters) of one look."""
    began = clock.monotonic()
    rows = reader.query("rates", statements.WRITTEN)
    return None if rows is None else ((began + clock.monotonic()) / 2, rows)


def rates_of(before: Rows, after: Rows, seconds: float) -> Rates | None:
    """Return bytes/s into the gcache ring (24 bytes of header a write set) and write sets/s; None without counters."""
    first, last = before.pairs(), after.pairs()
    seqno = [count(rows.get("wsrep_last_committed", "")) for rows in (first, last)]
    moved = [
        (count(rows.get("wsrep_replicated_bytes", "")) or 0) + (count(rows.get("wsrep_received_bytes", "")) or 0)
        for rows in (first, last)
    ]
    if seqno[0] is None or seqno[1] is None or seconds <= 0 or seqno[1] < seqno[0]:
        return None
    sets = seqno[1] - seqno[0]
    grown = max(0, moved[1] - moved[0]) + HEADER_BYTES * sets
    return Rates(bytes_s=grown / seconds, seqno_s=sets / seconds, over_s=seconds)
