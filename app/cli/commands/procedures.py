"""`procedures [NAME]`: the cards; the questions of one with their defaults; `--runs`: runs and what is switched on."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from app.cli.arguments import FINDINGS, GOOD, NEEDS_PERSON
from app.cli.machine import print_json
from app.cli.procedure_text import card_lines, field_lines, obligation_lines, place_of, run_lines, run_title, way_lines
from app.cli.run_document import run_document
from app.cli.steering import elsewhere_lines, open_service
from app.places import data_folder
from app.written_estate import NothingToWatch
from services.i18n import english, tr
from services.procedures.catalogue import all_procedures, procedure_named
from services.procedures.journal.codec import plain
from services.procedures.journal.projection import ENDED
from services.procedures.journal.run_summary import where_it_stands
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import with_addresses
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import OpenObligation, RunView


def run(options: Namespace) -> int:
    """Print what was asked for. Exit 1 with --runs when a run is not over or something is switched on, 4 when the
    journal of a run is damaged."""
    if options.runs:
        return _runs(options)
    if options.name:
        return _questions(options)
    cards = [procedure.about for procedure in all_procedures()]
    if getattr(options, "json", False):
        print_json([plain(_document(card)) for card in cards])
        return GOOD
    need = ""
    for card in sorted(cards, key=lambda c: c.need):
        if card.need != need:
            need = card.need
            sys.stdout.write(f"\n{tr(need)}\n")
        sys.stdout.write("\n".join(f"  {line}" for line in card_lines(card)) + "\n")
    return GOOD


def _document(card: About) -> dict[str, object]:
    """Return a card as it is for people: which facts are read for it is the program's own matter."""
    return {name: value for name, value in asdict(card).items() if name != "needs"}


def _questions(options: Namespace) -> int:
    procedure = procedure_named(options.name)
    about, read = procedure.about, True
    try:
        with open_service(options) as service:
            facts = service.gather(options.cluster, options.name, operator=False)  # it is only shown
            fields = service.draft(options.name, facts, {}).fields
    except NothingToWatch:
        if getattr(options, "inventory", None) is not None:
            raise  # a file that was named and is not there is a slip of the pen
        fields, read = procedure.fields(Facts(0.0, "", ""), {}), False
    if getattr(options, "json", False):
        document = {"about": _document(about), "fields": [asdict(field) for field in fields], "hosts_read": read}
        print_json(plain(document))
        return GOOD
    sys.stdout.write("\n".join([*card_lines(about), *field_lines(fields)]) + "\n")
    if not read:
        sentence = tr("There is no inventory yet, so no host was read. The questions are shown without your hosts.")
        sys.stdout.write(f"{sentence}\n")
    return GOOD


def _runs(options: Namespace) -> int:
    with open_service(options) as service:
        open_ = service.look_at_obligations()
        runs, damaged = service.runs(), service.damaged()
        addresses = {view.run_id: service.addresses(view.run_id) for view in runs}
    if getattr(options, "json", False):
        told = [{"error": problem.code, "sentence": english(problem.sentence)} for problem in damaged]
        print_json([*(run_document(view, addresses[view.run_id]) for view in runs), *told])
    else:
        for view in runs:
            _tell_run(view, addresses[view.run_id])
        for problem in damaged:
            sys.stdout.write(f"{problem.as_text()}\n")
        if not runs and not damaged:
            none = tr("No procedure has been run with this data folder: {folder}.", folder=data_folder(options))
            sys.stdout.write("".join(f"{line}\n" for line in (none, *elsewhere_lines(options))))
        if open_:
            _tell_open(open_, runs, addresses)
    if damaged:
        return NEEDS_PERSON
    return FINDINGS if open_ or any(view.state not in ENDED for view in runs) else GOOD


def _tell_run(view: RunView, addresses: Mapping[str, str]) -> None:
    if view.state in ENDED:
        sys.stdout.write(f"{run_title(view)}  [{tr(view.state.value)}]\n")
    else:
        sys.stdout.write("\n".join(run_lines(view)) + f"\n  {where_it_stands(view)}\n")
    hosts = with_addresses(view.plan.machines, addresses)
    sys.stdout.write(f"  {tr('hosts: {hosts}', hosts=hosts)}\n")
    sys.stdout.write("".join(f"{line}\n" for line in way_lines(view)))


def _tell_open(
    open_: tuple[OpenObligation, ...], runs: Sequence[RunView], addresses: Mapping[str, Mapping[str, str]]
) -> None:
    views = {view.run_id: view for view in runs}
    places = {
        (one.run_id, one.obligation.key): place_of(one, views[one.run_id], addresses[one.run_id])
        for one in open_
        if one.run_id in views
    }
    sys.stdout.write(tr("Switched on:") + "\n" + "\n".join(obligation_lines(open_, places)) + "\n")
