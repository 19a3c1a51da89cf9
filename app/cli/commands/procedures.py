"""`procedures [NAME]`: the cards; the questions of one with their defaults; `--runs`: runs and what is switched on."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from dataclasses import asdict

from app.cli.arguments import FINDINGS, GOOD
from app.cli.procedure_text import card_lines, field_lines, obligation_lines, run_lines, way_lines
from app.cli.steering import open_desk, run_document
from app.compose import NothingToWatch
from services.procedures.catalogue import all_procedures, procedure_named
from services.procedures.gather.gather import ALL_PARTS
from services.procedures.journal.fold import ENDED
from services.procedures.journal.standing import where_it_stands
from services.procedures.plan.codec import plain
from services.procedures.plan.host_facts import Facts
from services.words import tr


def run(options: Namespace) -> int:
    """Print what was asked for. Exit 1 with --runs when a run is not over or something is switched on."""
    if options.runs:
        return _runs(options)
    if options.name:
        return _questions(options)
    cards = [procedure.about for procedure in all_procedures()]
    if getattr(options, "json", False):
        sys.stdout.write(json.dumps([plain(asdict(card)) for card in cards]) + "\n")
        return GOOD
    need = ""
    for card in sorted(cards, key=lambda c: c.need):
        if card.need != need:
            need = card.need
            sys.stdout.write(f"\n{tr(need)}\n")
        sys.stdout.write("\n".join(f"  {line}" for line in card_lines(card)) + "\n")
    return GOOD


def _questions(options: Namespace) -> int:
    procedure = procedure_named(options.name)
    about, read = procedure.about, True
    try:
        with open_desk(options) as desk:
            facts = desk.gather(options.cluster, parts=ALL_PARTS - {"operator"})  # it is only shown
            fields = desk.draft(options.name, facts, {}).fields
    except NothingToWatch:
        if getattr(options, "inventory", None) is not None:
            raise  # a file that was named and is not there is a slip of the pen
        fields, read = procedure.fields(Facts(0.0, "", ""), {}), False
    if getattr(options, "json", False):
        document = {"about": asdict(about), "fields": [asdict(field) for field in fields], "hosts_read": read}
        sys.stdout.write(json.dumps(plain(document)) + "\n")
        return GOOD
    sys.stdout.write("\n".join([*card_lines(about), *field_lines(fields)]) + "\n")
    if not read:
        told = tr("There is no inventory yet, so no host was read: these are the questions without your hosts.")
        sys.stdout.write(f"{told}\n")
    return GOOD


def _runs(options: Namespace) -> int:
    with open_desk(options) as desk:
        open_ = desk.look_at_obligations()
        runs = desk.runs()
    if getattr(options, "json", False):
        sys.stdout.write(json.dumps([run_document(view) for view in runs]) + "\n")
    else:
        for view in runs:
            if view.state in ENDED:
                sys.stdout.write(f"{tr('run')} {view.run_id}: {view.plan.title}  [{tr(view.state.value)}]\n")
            else:
                sys.stdout.write("\n".join(run_lines(view)) + f"\n  {where_it_stands(view)}\n")
            sys.stdout.write("".join(f"{line}\n" for line in way_lines(view)))
        if not runs:
            sys.stdout.write(tr("No procedure has been run with this data folder.") + "\n")
        elif open_:
            sys.stdout.write(tr("Switched on:") + "\n" + "\n".join(obligation_lines(open_)) + "\n")
    return FINDINGS if open_ or any(view.state not in ENDED for view in runs) else GOOD
