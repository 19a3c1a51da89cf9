"""A server's own view of its group: MySQL Group Replication, out of two tables of the performance schema.

Sources: MySQL 8.4 Reference Manual, "The replication_group_members Table" (states ONLINE, RECOVERING, OFFLINE, ERROR,
UNREACHABLE; roles; an empty id for a server that has not started the plugin), "The replication_group_member_stats
Table" (queues), "Group Replication Server States", "Group Replication System Variables". MySQL 5.7 tells no role: there
the status variable group_replication_primary_member names the primary's id, '' in multi-primary mode.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from services.connections.ports import Rows, SqlValue, text
from services.connections.reads.read import SqlRead
from services.facts.logs.client_text import without_client_text
from services.facts.logs.error_log import split_line
from services.facts.model import GroupFacts, GroupMember, GroupRecovery, Problem
from services.facts.reading import count, flag, port_of, words
from services.facts.replication import gtid
from services.facts.server.cut_texts import uncut
from services.facts.server.dialect import in_a_group
from services.i18n import tr
from services.visible import as_line

MOST_MEMBERS = 64
"""A group has nine at most (MySQL manual, "Group Replication Limitations"); a hostile answer is cut."""
_TOLD = re.compile(r"\d{1,20} \[(?P<level>\w{1,10})\] \[(?P<code>MY-\d{6})\] \[Repl\] (?P<words>.{1,1000})")
"""A line of the server's log behind its moment (seen on MySQL 9.7.4): "118 [ERROR] [MY-010584] [Repl] ..."."""
_BACK = "MY-011490"
"""The server was declared online within the group."""
_REASONS = {
    "MY-010584": 3,  # the applier's worker failed on a transaction: this line has the reason, the next two have none
    "MY-011505": 3,  # expelled
    "MY-011640": 3,  # no group was found within the time
    "MY-011452": 2,
    "MY-011451": 2,
    "MY-011495": 1,  # no majority is reached
}
"""Codes of errors that say why a server left its group, and how much each says."""
_REPORTED = "Plugin group_replication reported: "
STATES = frozenset({"ONLINE", "RECOVERING", "OFFLINE", "ERROR", "UNREACHABLE"})
_MOST_LINE = 4000
_MOST_STAGES = 16
RECOVERY_CHANNEL = "group_replication_recovery"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGITS = re.compile(r"[0-9a-f]{32}")
_MOST_SEED = 255


def parse_group(
    status: Mapping[str, str],
    variables: Mapping[str, str],
    members: Rows | None,
    stats: Rows | None,
    at: float,
    recovery: GroupRecovery | None = None,
) -> GroupFacts | None:
    """Return the view, None where no group is configured; nothing but the member's id where its name is not understood.

    Args:
        members, stats: the rows of the two tables, None where they were not read.
        at: when they were.
        recovery: how far it is, where it was asked.
    """
    if not in_a_group(variables):
        return None
    variables = uncut(variables)
    name, own = _id(variables["group_replication_group_name"]), _id(variables.get("server_uuid", ""))
    if not name:
        return GroupFacts(member_id=own)
    numbers = next((row for row in _rows(stats) if _id(_text(row, "MEMBER_ID")) == own), {}) if own else {}
    primary = _id(status.get("group_replication_primary_member", ""))
    single = flag(variables.get("group_replication_single_primary_mode", ""))
    return GroupFacts(
        group_name=name,
        member_id=own,
        members=tuple(_member(row, primary, single) for row in _rows(members)),
        members_at=at if members is not None else None,
        single_primary=single,
        view_id=words(_text(numbers, "VIEW_ID"), 80),
        certify_queue=count(numbers.get("COUNT_TRANSACTIONS_IN_QUEUE")),
        applier_queue=count(numbers.get("COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE")),
        conflicts=count(numbers.get("COUNT_CONFLICTS_DETECTED")),
        applier_limit=count(variables.get("group_replication_flow_control_applier_threshold", "")),
        certify_limit=count(variables.get("group_replication_flow_control_certifier_threshold", "")),
        seeds=_seeds(variables.get("group_replication_group_seeds", "")),
        recovery=recovery,
    )


def group_problems(variables: Mapping[str, str]) -> tuple[Problem, ...]:
    """Return why nothing is known of a group that is configured: its name is none that a server takes."""
    name = variables.get("group_replication_group_name", "")
    if not in_a_group(variables) or _id(name):
        return ()
    text = tr("its group name is not a UUID ('{name}'), so the group is not known", name=as_line(name, 40))
    return (Problem("group", text, "group-name"),)


def _seeds(text: str) -> tuple[str, ...]:
    """Return the configured addresses, each in its length, as many as a group has members."""
    listed = text[: MOST_MEMBERS * (_MOST_SEED + 1)].split(",")[:MOST_MEMBERS]
    return tuple(seed for seed in (words(one, _MOST_SEED) for one in listed) if seed)


def recovers(members: Rows | None, variables: Mapping[str, str]) -> bool:
    """Return whether the server's own row says RECOVERING: then it is worth asking how far it is."""
    own = _id(variables.get("server_uuid", ""))
    rows = _rows(members)
    return any(_id(_text(row, "MEMBER_ID")) == own and _text(row, "MEMBER_STATE") == "RECOVERING" for row in rows)


def read_recovery(
    reads: Sequence[SqlRead], members: Rows | None, variables: Mapping[str, str], ask: Callable[[SqlRead], Rows | None]
) -> GroupRecovery | None:
    """Ask a member that is RECOVERING how far it is (the dialect's `group_recovery`); None of any other."""
    if not reads or not recovers(members, variables):
        return None
    received, executed, *clone = [ask(read) for read in reads]
    return parse_recovery(received, executed, clone[0] if clone else None)


def parse_recovery(received: Rows | None, executed: Rows | None, clone: Rows | None) -> GroupRecovery:
    """Return how far a member is that is RECOVERING; what was not read is not known.

    Args:
        received: replication_connection_status; executed: the variable gtid_executed; clone: clone_progress.

    A clone copies files, then pages, then redo (MySQL manual, "Monitoring Cloning Operations"); its rows stay when it
    is over. The channel fetches faster than it is applied: what it has received is next to all that is missing.
    """
    rows = (row for row in _rows(received) if _text(row, "CHANNEL_NAME") == RECOVERY_CHANNEL)
    channel = next(rows, None)
    stage, done, whole = _cloning(clone)
    if channel is None:
        return GroupRecovery(clone_stage=stage, clone_done=done, clone_whole=whole)
    have = executed.rows[0][-1] if executed is not None and executed.rows else None
    missing = gtid.gap(_text(channel, "RECEIVED_TRANSACTION_SET"), text(have)) if have is not None else None
    return GroupRecovery(
        donor_id=_id(_text(channel, "SOURCE_UUID")),
        missing=missing,
        error=words(_text(channel, "LAST_ERROR_MESSAGE")) if count(channel.get("LAST_ERROR_NUMBER")) else "",
        clone_stage=stage,
        clone_done=done,
        clone_whole=whole,
    )


def _cloning(clone: Rows | None) -> tuple[str, int | None, int | None]:
    """Return the stage that is under way, and the bytes copied of those that all stages expect; ('', None, None)."""
    stages = _rows(clone)[:_MOST_STAGES]
    now = next((_text(row, "STAGE") for row in stages if _text(row, "STATE").lower() == "in progress"), "")
    if not now:
        return "", None, None
    done = sum(count(row.get("DATA")) or 0 for row in stages)
    return words(now, 40), done, max(done, sum(count(row.get("ESTIMATE")) or 0 for row in stages)) or None


def parse_group_error(lines: Iterable[str]) -> str:
    """Return what a server's log says of why it left its group, '' where nothing since it was last online."""
    found, rank = "", 0
    for line in without_client_text(line[:_MOST_LINE] for line in lines):
        if "[Repl]" not in line:
            continue
        match = _TOLD.match(split_line(line, 0.0)[1])
        if match is None:
            continue
        weight = _REASONS.get(match["code"], 0) if match["level"].upper() == "ERROR" else 0
        if match["code"] == _BACK:
            found, rank = "", 0
        elif weight >= max(rank, 1):
            found, rank = words(match["words"].removeprefix(_REPORTED).strip("'"), 300), weight
    return found


def _member(row: Mapping[str, SqlValue], primary: str, single: bool | None) -> GroupMember:
    member, state = _id(_text(row, "MEMBER_ID")), _text(row, "MEMBER_STATE").strip().upper()
    role = _text(row, "MEMBER_ROLE").strip().upper()
    if "MEMBER_ROLE" not in row and state in {"ONLINE", "UNREACHABLE"}:  # 5.7
        role = "PRIMARY" if single is False or (primary and member == primary) else "SECONDARY" if primary else ""
    return GroupMember(
        member_id=member,
        host=words(_text(row, "MEMBER_HOST"), 255),
        port=port_of(row.get("MEMBER_PORT")),
        state=state if state in STATES else "",
        state_word="" if state in STATES else words(_text(row, "MEMBER_STATE"), 40),
        role=role if role in {"PRIMARY", "SECONDARY"} else "",
    )


def _rows(rows: Rows | None) -> list[dict[str, SqlValue]]:
    """Return rows by column name in capitals: servers differ in how they print it."""
    found = rows.dicts()[:MOST_MEMBERS] if rows is not None else ()
    return [{name.upper(): value for name, value in row.items()} for row in found]


def _text(row: Mapping[str, SqlValue], name: str) -> str:
    return text(row.get(name))


def _id(value: str) -> str:
    """Return a UUID in small letters with its dashes, '' for whatever is none.

    MySQL reads one without dashes too, and one in braces (MySQL manual, "IS_UUID()"); its check of a group's name asks
    the same parser, and 32 digits pass it (MySQL source, plugin/group_replication: check_group_name_string).
    """
    clean = value.strip().lower()
    if _DIGITS.fullmatch(clean):
        return "-".join((clean[:8], clean[8:12], clean[12:16], clean[16:20], clean[20:]))
    if clean.startswith("{") and clean.endswith("}"):
        clean = clean[1:-1]
    return clean if _ID.fullmatch(clean) else ""
