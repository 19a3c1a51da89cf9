"""MySQL's Group Replication on the members of an estate: formed, watched, its mode changed, made whole again."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from tests.lab.estate import vault
from tests.lab.estate.errors import LabError, LabTimeoutError
from tests.lab.estate.servers import accounts, database, replication
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until

MODES = ("single", "multi")
_VIEW = "SELECT MEMBER_HOST, MEMBER_STATE, MEMBER_ROLE, MEMBER_ID FROM performance_schema.replication_group_members"
_START_S = 90.0
_ON_BOOT = "SET PERSIST group_replication_start_on_boot"
_DEFAULTS = (
    "SET GLOBAL group_replication_autorejoin_tries = DEFAULT; "
    "SET GLOBAL group_replication_exit_state_action = DEFAULT; SET GLOBAL offline_mode = OFF"
)
"""What faults change. A member that fell out in ERROR stays in offline mode also when it is back in the group."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member as one of the group sees it: ONLINE, RECOVERING, UNREACHABLE, ERROR or OFFLINE; PRIMARY, SECONDARY."""

    state: str
    role: str
    uuid: str


def members(spec: EstateSpec) -> tuple[str, ...]:
    """Hosts that belong to the group, in order; the first one forms it and is its primary."""
    return tuple(h.name for h in spec.hosts if h.role == "group")


def form(spec: EstateSpec, *, limit_s: float = 120.0) -> None:
    """Start the members, form the group on the first, let the others join; until each sees all of them ONLINE."""
    names = members(spec)
    for name in names:
        database.begin_start(spec, name)
    for name in names:
        database.wait_active(spec, name, limit_s=limit_s)
        database.sql(
            spec,
            name,
            "CHANGE REPLICATION SOURCE TO SOURCE_USER='replication', "
            f"SOURCE_PASSWORD='{vault.load()['replication']}' FOR CHANNEL 'group_replication_recovery'",
        )
    bootstrap(spec, names[0])
    accounts.create(spec, names[0])
    database.sql(spec, names[0], replication.MAKE_PROBE)
    for name in names[1:]:
        join(spec, name)
    wait_online(spec, limit_s=limit_s)
    for name in names:
        # Not before it has been in the group once: a first start that joins by itself finds nobody to join.
        database.sql(spec, name, f"{_ON_BOOT} = ON")


def bootstrap(spec: EstateSpec, name: str) -> None:
    """Form the group anew from a member that runs and is in none."""
    option = "SET GLOBAL group_replication_bootstrap_group"
    try:
        database.sql(spec, name, f"{option} = ON; START GROUP_REPLICATION", limit_s=_START_S)
    finally:
        database.sql(spec, name, f"{option} = OFF")


def join(spec: EstateSpec, name: str) -> None:
    database.sql(spec, name, "START GROUP_REPLICATION", limit_s=_START_S)


def leave(spec: EstateSpec, name: str) -> None:
    """Take a member out of whatever group it believes to be in; its server is killed when it won't go."""
    try:
        database.sql(spec, name, "STOP GROUP_REPLICATION", limit_s=30)
    except LabError:
        database.kill(spec, name)
        database.start(spec, name)
        database.sql(spec, name, "STOP GROUP_REPLICATION", limit_s=60)


def view(spec: EstateSpec, name: str) -> dict[str, Member]:
    """The group as `name` sees it, by host; the state OFFLINE of itself alone when it is in none."""
    by_address = {spec.address(h.name): h.name for h in spec.hosts}
    rows = database.sql(spec, name, _VIEW, limit_s=10)
    return {by_address.get(host, name): Member(state, role, uuid) for host, state, role, uuid in rows}


def own_state(spec: EstateSpec, name: str) -> str:
    """What a member says of itself; '' while its server does not answer."""
    try:
        return view(spec, name).get(name, Member("", "", "")).state
    except LabError:
        return ""


def has_quorum(seen: dict[str, Member]) -> bool:
    """Whether a view can decide: more than half of the members in it are reached."""
    reached = [m for m in seen.values() if m.state in ("ONLINE", "RECOVERING")]
    return 2 * len(reached) > len(seen)


def primaries(spec: EstateSpec) -> tuple[str, ...]:
    """The members that take writes, as the first that is ONLINE with a quorum says."""
    for name in members(spec):
        if own_state(spec, name) == "ONLINE" and has_quorum(seen := view(spec, name)):
            return tuple(n for n, m in seen.items() if m.role == "PRIMARY")
    raise LabError(f"no member of {spec.name} is in a group with a quorum")


def wait_online(spec: EstateSpec, *, limit_s: float = 60.0) -> float:
    """Wait until every member sees all of them ONLINE; seconds taken."""
    return wait_until("the group to be ONLINE", lambda: _not_online(spec), limit_s=limit_s)


def _not_online(spec: EstateSpec) -> str | None:
    names = members(spec)
    for name in names:
        try:
            seen = {n: m.state for n, m in view(spec, name).items()}
        except LabError as exc:
            return f"{name}: {str(exc)[:200]}"
        if seen != dict.fromkeys(names, "ONLINE"):
            return f"{name} sees {seen}; {last_error(spec, name)}"
    return None


def wait_state(spec: EstateSpec, name: str, state: str, *, limit_s: float) -> float:
    """Wait until a member says this of itself; seconds taken."""
    return wait_until(
        f"{name} to be {state}",
        lambda: None if (now := own_state(spec, name)) == state else f"it is {now or 'silent'}",
        limit_s=limit_s,
    )


def last_error(spec: EstateSpec, name: str) -> str:
    """The newest error that the server wrote down (performance_schema.error_log)."""
    asked = "SELECT DATA FROM performance_schema.error_log WHERE PRIO = 'Error' ORDER BY LOGGED DESC LIMIT 1"
    try:
        return "".join(*database.sql(spec, name, asked, limit_s=10))[:300]
    except (LabError, TypeError):
        return ""


def switch_mode(spec: EstateSpec, mode: str) -> None:
    """Let one member take writes, the first, or all of them."""
    if mode not in MODES:
        raise LabError(f"no mode {mode!r}; there are {', '.join(MODES)}")
    first = members(spec)[0]
    seen = view(spec, first)
    now = primaries(spec)
    if mode == "multi":
        asked = "group_replication_switch_to_multi_primary_mode()" if len(now) == 1 else ""
    elif len(now) > 1:
        asked = f"group_replication_switch_to_single_primary_mode('{seen[first].uuid}')"
    else:
        asked = f"group_replication_set_as_primary('{seen[first].uuid}')" if now != (first,) else ""
    if asked:
        database.sql(spec, first, f"SELECT {asked}", limit_s=60)


def rejoin(spec: EstateSpec, name: str, *, limit_s: float = 90.0) -> None:
    """Get a member that runs back into the group, without the row that `break error` put on it."""
    leave(spec, name)
    _forget(spec, name)
    join(spec, name)
    wait_state(spec, name, "ONLINE", limit_s=limit_s)


def _forget(spec: EstateSpec, name: str) -> None:
    clean = f"SET sql_log_bin = 0; DELETE FROM {replication.PROBE} WHERE note = '{replication.ERRANT}'; "
    database.sql(spec, name, f"SET GLOBAL super_read_only = OFF; {clean}{_DEFAULTS}")


def recover(spec: EstateSpec, *, limit_s: float = 180.0) -> None:
    """All members ONLINE in one group again, the first its only primary, whatever was done to them.

    Members that may find each other by themselves are given a moment. Then whoever has a quorum is joined by the
    others; where nobody has, the group is formed anew from the member that has most.
    """
    names = members(spec)
    for name in names:
        if database.pid(spec, name) is None:
            database.start(spec, name, limit_s=limit_s)
    with contextlib.suppress(LabTimeoutError):
        wait_until("the members", lambda: _undecided(spec), limit_s=20)
    _form_again(spec)
    wait_online(spec, limit_s=limit_s)
    for name in names:
        database.sql(spec, name, f"{_DEFAULTS}; {_ON_BOOT} = ON")
    switch_mode(spec, "single")
    catch_up(spec, limit_s=limit_s)


def catch_up(spec: EstateSpec, *, limit_s: float = 90.0) -> float:
    """Wait until every member has applied what the group has decided by now; seconds taken.

    ONLINE says nothing of that: after a full disk a server waits for up to a minute before it tries again.
    """
    wanted = _executed(spec, primaries(spec)[0])

    def reason() -> str | None:
        for name in members(spec):
            if database.sql(spec, name, f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{wanted}', 0.2)")[0][0] != "0":
                return f"{name} has not applied {wanted}"
        return None

    return wait_until("the members to catch up", reason, limit_s=limit_s)


def _undecided(spec: EstateSpec) -> str | None:
    """None once all are in, or one is out for good: then nothing is gained by waiting."""
    states = {name: own_state(spec, name) for name in members(spec)}
    return None if "ERROR" in states.values() else _not_online(spec)


def _form_again(spec: EstateSpec) -> None:
    names = members(spec)
    inside = [n for n in names if own_state(spec, n) == "ONLINE" and has_quorum(view(spec, n))]
    if not inside:
        _take_apart(spec)
        best = max(names, key=lambda n: _transactions(spec, n))
        _forget(spec, best)
        bootstrap(spec, best)
        inside = [best]
    for name in names:
        if name not in inside:
            rejoin(spec, name)


def _take_apart(spec: EstateSpec) -> None:
    """Start every member anew, outside any group: one without a quorum takes a minute to leave, or never goes."""
    for name in members(spec):
        database.sql(spec, name, f"{_ON_BOOT} = OFF")
        database.kill(spec, name)
        database.begin_start(spec, name)
    for name in members(spec):
        database.wait_active(spec, name, limit_s=60)


def _executed(spec: EstateSpec, name: str) -> str:
    return database.sql(spec, name, "SELECT REPLACE(@@GLOBAL.gtid_executed, '\n', '')")[0][0]


def _transactions(spec: EstateSpec, name: str) -> int:
    """How many transactions of the group a member has: the length of its intervals (UUID:1-7:9)."""
    total = 0
    for interval in (
        part for one in _executed(spec, name).split(",") for part in one.split(":")[1:] if part[:1].isdigit()
    ):
        low, _, high = interval.partition("-")
        total += int(high or low) - int(low) + 1
    return total
