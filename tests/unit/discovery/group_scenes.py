"""Facts of invented members of a Group Replication group: what a healthy one says, to be bent by each test.

They prove the pure functions only; the columns and states are those of the MySQL 8.4 manual.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from services.facts.model import GroupFacts, GroupMember, NodeFacts
from services.types import Flavour
from tests.unit.discovery import scenes as s

GROUP = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"


def uuid(number: int) -> str:
    return f"{number:08x}-1111-2222-3333-444444444444"


def row(number: int, state: str = "ONLINE", role: str = "") -> GroupMember:
    return GroupMember(uuid(number), f"db{number}", 3306, state, role or ("PRIMARY" if number == 1 else "SECONDARY"))


def view(number: int, *rows: GroupMember, **more: Any) -> GroupFacts:
    """Return what member `number` sees, a healthy group of three where no rows are given."""
    known = GroupFacts(
        group_name=GROUP, member_id=uuid(number), members=rows or tuple(row(n) for n in (1, 2, 3)), members_at=s.AT,
        single_primary=True, view_id="17:3", certify_queue=0, applier_queue=0, conflicts=0, applier_limit=25000,
        certify_limit=25000, seeds=tuple(f"db{n}:33061" for n in (1, 2, 3)),
    )  # fmt: skip
    return replace(known, **more)


def member(number: int, group: GroupFacts | None = None, **more: Any) -> NodeFacts:
    server = s.server(
        number, flavour=Flavour.MYSQL, version="8.4.3", version_text="8.4.3", version_key=(8, 4, 3),
        server_uuid=uuid(number), read_only=number != 1, super_read_only=number != 1,
    )  # fmt: skip
    return s.facts(number, group=group or view(number), **{"server": server, **more})


def left(number: int, state: str, **more: Any) -> NodeFacts:
    """Return a server that answers and is in no view: its table has its own row alone."""
    return member(number, view(number, row(number, state)), **more)


def apart(number: int, *reached: int, of: tuple[int, ...] = (1, 2, 3)) -> NodeFacts:
    """Return a member that reaches these of its view, itself among them."""
    rows = tuple(row(n, "ONLINE" if n in reached else "UNREACHABLE") for n in of)
    return member(number, view(number, *rows))
