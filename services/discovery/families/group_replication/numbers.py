"""The numbers on a member's card: what waits to be applied, what waits to be certified (metrics reference, 8)."""

from __future__ import annotations

from services.discovery.families.shared.numbers import Number, with_disk
from services.discovery.nodes import Node
from services.discovery.words import number, size
from services.facts.model import GroupFacts, GroupRecovery
from services.i18n import mark, tr
from services.types import Health

QUEUE_WARN = 1000
"""Of either queue: with a full disk it is the certification queue that grows (seen on MySQL 9.7.4)."""


def group_numbers(node: Node) -> tuple[Number, ...]:
    """Return how far its recovery is, and the two queues, as far as they were read; a full disk stands beside them."""
    group = node.facts.group if node.facts is not None else None
    if group is None:
        return ()
    found: list[Number] = []
    if group.recovery is not None:
        found.append((mark("recovery"), _recovery(group, group.recovery), Health.TRANSFER))
    if group.applier_queue is not None:
        health = _graded(group.applier_queue, group.applier_limit)
        found.append((mark("applier queue"), number(group.applier_queue), health))
    if group.certify_queue is not None:
        health = _graded(group.certify_queue, group.certify_limit)
        found.append((mark("certification queue"), number(group.certify_queue), health))
    return with_disk(node, tuple(found))


def to_go(group: GroupFacts) -> int | None:
    """Return the transactions that a member which is RECOVERING still has to apply; None where it was not read.

    First what the recovery channel received, then what the group decided meanwhile (the applier's queue).
    """
    missing = group.recovery.missing if group.recovery is not None else None
    if missing is None:
        return group.applier_queue or None
    return missing + (group.applier_queue or 0)


def cloned(recovery: GroupRecovery) -> str:
    """Return "70 MB of 84 MB", '' where that is not known; the whole is the donor's estimate."""
    if recovery.clone_done is None or not recovery.clone_whole:
        return ""
    return tr("{done} of {whole}", done=size(recovery.clone_done), whole=size(recovery.clone_whole))


def _recovery(group: GroupFacts, recovery: GroupRecovery) -> str:
    if recovery.clone_stage:
        return cloned(recovery) or recovery.clone_stage
    left = to_go(group)
    return tr("not known") if left is None else tr("{n} to go", n=number(left))


def _graded(value: int, bad: int | None) -> Health:
    """Return BAD beyond the limit at which flow control holds the group back."""
    if bad and value > bad:
        return Health.BAD
    return Health.WARN if value > QUEUE_WARN else Health.GOOD
