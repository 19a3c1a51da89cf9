"""`settle [CLUSTER]`: two Primary Components that were seen and not settled; and a person's word that ends it."""

from __future__ import annotations

import sys
from argparse import Namespace

from app.cli.arguments import FINDINGS, GOOD
from app.cli.machine import print_json
from app.cli.steering import need_word
from app.compose import open_state
from app.places import state_file
from services.discovery.families.galera.two_primaries import sides_words
from services.discovery.words import moment
from services.errors import BadInput
from services.history.state.split_log import Split, SplitLog
from services.i18n import tr
from services.procedures.engine.endings.settling import meaning, open_of, person, settle


def run(options: Namespace) -> int:
    """List, or settle one cluster. Exit 0: nothing is open, or it was settled; 1: something is open; 2: bad input."""
    with open_state(state_file(options)) as state:
        log = state.splits()
        return _settled(log, options) if options.cluster else _listed(log, options)


def _listed(log: SplitLog, options: Namespace) -> int:
    stories = sorted(log.all(), key=lambda s: s.settled_at is not None)
    if getattr(options, "json", False):
        print_json([document(s) for s in stories])
    else:
        sys.stdout.write("\n".join(line for s in stories for line in lines(s)) + "\n" if stories else "")
        if not stories:
            sys.stdout.write(tr("This data folder has no record of two Primary Components in one cluster.") + "\n")
    return FINDINGS if any(s.settled_at is None for s in stories) else GOOD


def _settled(log: SplitLog, options: Namespace) -> int:
    need_word(options, tr("use a terminal"))
    found = open_of(log, options.cluster)
    name, machine = found[0].cluster_name or found[0].cluster_uuid, getattr(options, "json", False)
    if not machine:
        sys.stdout.write("\n".join(line for s in found for line in (*lines(s), f"  {meaning(s)}")) + "\n")
    if not options.yes and not _typed(name):
        sys.stdout.write(tr("Nothing was settled.") + "\n")
        return FINDINGS
    reason = options.reason
    if not reason.strip() and not options.yes:
        reason = _asked(tr("What was done about it (stored with your name): "))
    if not reason.strip():
        raise BadInput(tr("State with --reason what was done about it: the text stays in the history."))
    done = settle(log, found[0].cluster_uuid, person(), reason)
    if machine:
        print_json([document(s) for s in done])
    else:
        sys.stdout.write(tr("Settled: {name}. It stays in the history.", name=name) + "\n")
    return GOOD


def _typed(name: str) -> bool:
    return _asked(tr("Type {name} to settle it: ", name=name)) == name


def _asked(question: str) -> str:
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip()


def lines(seen: Split) -> tuple[str, ...]:
    """Return one story as text."""
    head = tr("settled") if seen.settled_at is not None else tr("NOT SETTLED")
    first, last = moment(seen.first_seen), moment(seen.last_seen)
    sentences = [
        f"{seen.cluster_name or seen.cluster_uuid}  [{head}]  {sides_words(seen.sides)}",
        "  " + tr("seen from {first} to {last} by {who}: {evidence}", first=first, last=last, who=seen.seen_by,
                  evidence=seen.evidence),
        f"  {tr('state UUID')} {seen.cluster_uuid}",
    ]  # fmt: skip
    if seen.settled_at is not None:
        words = tr("settled {at} by {who}: {why}", at=moment(seen.settled_at), who=seen.settled_by,
                   why=seen.settled_words)  # fmt: skip
        sentences.append(f"  {words}")
    return tuple(sentences)


def document(seen: Split) -> dict[str, object]:
    """Return one story for machines."""
    return {
        "number": seen.number,
        "cluster": seen.cluster_name,
        "cluster_uuid": seen.cluster_uuid,
        "sides": [list(side) for side in seen.sides],
        "evidence": seen.evidence,
        "first_seen": seen.first_seen,
        "last_seen": seen.last_seen,
        "seen_by": seen.seen_by,
        "settled": seen.settled_at is not None,
        "settled_at": seen.settled_at,
        "settled_by": seen.settled_by,
        "settled_words": seen.settled_words,
    }
