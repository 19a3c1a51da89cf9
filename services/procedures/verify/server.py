"""Conditions about one running server: variables, provider options, status, clients, flow control, position."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

from services.connections.ports import text
from services.connections.reads import commands, statements
from services.errors import QueryFailed, Unreachable, UserError
from services.facts.harmless_options import is_secret
from services.facts.provider_options import provider_options
from services.facts.reading import count, sized, whole
from services.facts.sessions import Sessions, parse_sessions
from services.facts.values import compared, same
from services.procedures.engine.ports import AT_THE_END, Past
from services.procedures.engine.remembering import most_gap_s
from services.procedures.gather.system import properties
from services.procedures.plan.conditions import (
    Answer,
    CacheFrozen,
    FlowControlBelow,
    NoClients,
    OptionIs,
    Position,
    ProviderOption,
    StatusIs,
    VariableIs,
)
from services.procedures.verify.asking import SQL_LIMIT_S, Asking, number_of
from services.procedures.verify.files import option_is

LEAST_SPAN_S, MOST_SPAN_S = 1.0, 60.0
"""Flow control is compared over at least this long, and at most: an older look says little of now."""


_OfServer = TypeVar("_OfServer", VariableIs, ProviderOption, StatusIs, CacheFrozen)


def told_dead(
    look: Callable[[_OfServer, Asking, Past], Answer],
) -> Callable[[_OfServer, Asking, Past], Answer]:
    """Tell a server that is dead from one that can't be reached: no wait for a dead one's word would ever end."""

    @functools.wraps(look)
    def looked(condition: _OfServer, asking: Asking, past: Past) -> Answer:
        try:
            return look(condition, asking, past)
        except Unreachable:
            dead = _dead(asking, condition.host)
            if not dead:
                raise
            return Answer(holds=False, evidence=dead, final=True)

    return looked


def _dead(asking: Asking, host: str) -> str:
    """Return the sentence for a host whose unit has failed; '' for one that starts, runs, or can't be asked."""
    unit = (asking.facts.host(host).unit if asking.facts is not None else "") or "mariadb.service"
    try:
        shown = properties(asking.run(host, commands.UNIT_RESULT.read(unit)).text)
    except UserError:
        return ""
    if shown.get("ActiveState") != "failed":
        return ""
    return f"no server runs on {host}: {unit} has failed ({shown.get('Result', '')})"


@told_dead
def variable_is(condition: VariableIs, asking: Asking, past: Past) -> Answer:
    """Look at one variable."""
    value = asking.variable(condition.host, condition.variable)
    if value is None:
        told = f"{condition.host} has no variable {condition.variable}"
        if condition.if_there:
            return Answer(holds=True, evidence=f"{told}: the option can't be read back")
        return Answer(holds=False, evidence=told, final=True)
    shown = "set" if is_secret(condition.variable) else value or "empty"
    told = f"{condition.variable} is {shown} on {condition.host}"
    holds = same(value, condition.value)
    if not holds and condition.was and not same(value, condition.was):
        return _third(condition, asking, past, value)
    return Answer(holds, told, final=condition.fixed and not holds)


def _third(condition: VariableIs, asking: Asking, past: Past, value: str) -> Answer:
    """Judge a value that is neither the wanted one nor the old one: the files tell a rounding from another's change."""
    host, name, secret = condition.host, condition.variable, is_secret(condition.variable)
    wanted, now = ("that", "another value") if secret else (condition.value, value or "empty")
    said = option_is(OptionIs(host, "mysqld", name, condition.value), asking, past)
    if said.holds is None:
        return Answer(holds=None, evidence=f"{name} is {now} on {host}, asked for was {wanted}: {said.evidence}")
    if not said.holds:
        told = f"{name} is {now} on {host}, asked for was {wanted}: somebody changed the files ({said.evidence})"
        return Answer(holds=False, evidence=told, final=True)
    told = f"asked for {name} = {wanted}, the server made {now} of it on {host}"
    return Answer(holds=True, evidence=told, kept=((f"{AT_THE_END}{name} on {host}", f"A{told[1:]}."),))


@told_dead
def provider_option(condition: ProviderOption, asking: Asking, past: Past) -> Answer:
    """Look at one option of the provider; a provider without it can never fulfil the condition."""
    del past
    options = provider_options(asking.variable(condition.host, "wsrep_provider_options") or "")
    value = options.get(condition.option)
    if value is None:
        said = f"the provider of {condition.host} has no option {condition.option}"
        return Answer(holds=False, evidence=said, final=bool(options))
    number = sized(value)
    whole_value = value if number is None else str(number)
    kept = ((condition.keep, whole_value),) if condition.keep else ()
    holds = compared(value, condition.comparison, condition.value)
    return Answer(holds, f"{condition.option} is {whole_value} on {condition.host}", kept=kept)


@told_dead
def status_is(condition: StatusIs, asking: Asking, past: Past) -> Answer:
    """Look at one status value; with `for_s` it must have held at every look for so long."""
    del past
    value = asking.status(condition.host).get(condition.status)
    if value is None:
        return Answer(holds=None, evidence=f"{condition.host} gives no {condition.status}")
    evidence = f"{condition.status} is {value} on {condition.host}"
    holds = compared(value, condition.comparison, condition.value)
    if not holds or condition.for_s <= 0:
        asking.memory.broke(condition)
        return Answer(holds, evidence, kept=((condition.keep, value),) if condition.keep else ())
    held = asking.memory.held_s(condition, asking.clock, most_gap_s(condition.for_s))
    return Answer(
        held >= condition.for_s,
        f"{evidence} for {held:.0f} of {condition.for_s:g} s",
        done=min(held, condition.for_s),
        total=condition.for_s,
        unit="s",
        left_s=max(0.0, condition.for_s - held),
    )


def no_clients(condition: NoClients, asking: Asking, past: Past) -> Answer:
    """Look for client sessions that work or hold a transaction (with `idle_too`: any)."""
    del past
    sessions = _sessions(asking, condition.host)
    session = asking.session(condition.host)
    rows = session.query(statements.IN_TRANSACTION, limit_s=SQL_LIMIT_S).rows
    holding = {number for row in rows if row and (number := count(text(row[0]))) is not None}
    clients = [c for c in sessions.clients if c.user not in condition.except_users]
    working = [c for c in clients if condition.idle_too or c.busy or c.number in holding]
    users = ", ".join(sorted({c.user for c in working}))
    if not working:
        idle = f", {len(clients)} idle" if clients else ""
        return Answer(holds=True, evidence=f"no client works on {condition.host}{idle}")
    what = "sessions" if condition.idle_too else "working sessions"
    told = f"{len(working)} {what} on {condition.host} ({users})"
    if condition.patience_s <= 0:
        return Answer(holds=False, evidence=told)
    waited = asking.memory.waited_s(condition, asking.clock)
    return Answer(
        waited >= condition.patience_s, f"{told}, waited for {waited:.0f} of {condition.patience_s:g} s",
        done=min(waited, condition.patience_s), total=condition.patience_s, unit="s",
    )  # fmt: skip


def _sessions(asking: Asking, host: str) -> Sessions:
    session = asking.session(host)
    own = session.query(statements.OWN_USER, limit_s=SQL_LIMIT_S)
    user = text(own.rows[0][0]) if own.rows else ""
    try:
        return parse_sessions(session.query(statements.SESSIONS, limit_s=SQL_LIMIT_S).rows, user)
    except QueryFailed:  # while the server refuses queries (wsrep_reject_queries) SHOW is still answered
        rows = session.query(statements.FULL_PROCESS_LIST, limit_s=SQL_LIMIT_S).dicts()
        shown = tuple((r.get("Id"), r.get("User"), r.get("Command"), r.get("Info"), r.get("Time")) for r in rows)
        return parse_sessions(shown, user)


def flow_control_below(condition: FlowControlBelow, asking: Asking, past: Past) -> Answer:
    """Compare wsrep_flow_control_paused_ns (ns since the start) of looks: over all of `for_s`, or the last two.

    The counter is exact, so that nothing between two looks of the span is missed.
    """
    del past
    host, began = condition.host, asking.clock.monotonic()
    paused = count(asking.status(host).get("wsrep_flow_control_paused_ns", ""))
    now = (began + asking.clock.monotonic()) / 2
    if paused is None:
        return Answer(holds=None, evidence=f"{host} gives no wsrep_flow_control_paused_ns")
    seen = _points(asking.memory.value(condition))
    if seen and (paused < seen[-1][1] or now - seen[-1][0] > MOST_SPAN_S):
        seen = ()  # the server was restarted, or nobody looked
    if seen and now - seen[-1][0] < LEAST_SPAN_S:
        return Answer(holds=None, evidence=f"flow control of {host} needs a later look")
    seen = _window((*seen, (now, paused)), condition.for_s)
    asking.memory.keep(condition, seen)
    span = seen[-1][0] - seen[0][0]
    if len(seen) == 1 and condition.for_s <= 0:
        return Answer(holds=None, evidence=f"flow control of {host} needs a second look")
    share = min(1.0, (seen[-1][1] - seen[0][1]) / 1e9 / span) if span else 0.0
    told = f"flow control paused {host} {share:.0%} of the last {span:.0f} s; allowed are {condition.share:.0%}"
    if span < condition.for_s:
        left = condition.for_s - span
        return Answer(holds=False, evidence=told, done=span, total=condition.for_s, unit="s", left_s=left)
    return Answer(share <= condition.share, told)


def _points(kept: object) -> tuple[tuple[float, int], ...]:
    return kept if isinstance(kept, tuple) else ()


def _window(seen: tuple[tuple[float, int], ...], for_s: float) -> tuple[tuple[float, int], ...]:
    """Return the looks that span the last `for_s` seconds, the last two for 0."""
    first = max((i for i, (at, _) in enumerate(seen[:-1]) if seen[-1][0] - at >= for_s), default=0)
    return seen[first:]


def position(condition: Position, asking: Asking, past: Past) -> Answer:
    """Compare wsrep_last_committed with a position that was known."""
    wanted = number_of(condition.at_least, past)
    if wanted is None:
        return Answer(holds=None, evidence="the position to compare with was not kept by this run")
    seqno = whole(asking.status(condition.host).get("wsrep_last_committed", ""))
    if seqno is None:
        return Answer(holds=None, evidence=f"{condition.host} gives no wsrep_last_committed")
    return Answer(seqno >= wanted, f"wsrep_last_committed is {seqno} on {condition.host}, at least {wanted} is wanted")
