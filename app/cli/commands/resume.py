"""`resume RUN` and `undo RUN`: go on by proof, take back, release what is on, or close a run as it stands."""

from __future__ import annotations

import sys
from argparse import Namespace

from app.cli.approval_text import Way, again_lines, coming_lines
from app.cli.arguments import FINDINGS
from app.cli.commands.plan import drive, refuse_to_rest_in_an_outage
from app.cli.procedure_text import run_lines
from app.cli.steering import attended, need_word, open_service
from services.i18n import tr
from services.procedures.journal.projection import ENDED
from services.procedures.journal.run_summary import where_it_stands
from services.procedures.plan.run_model import ASKS_AGAIN, RunView, StepState
from services.procedures.service.service import ProcedureService


def run(options: Namespace) -> int:
    """Go on or back. Exit codes: see app.cli.arguments."""
    with open_service(options) as service:
        view = service.view(options.run)  # first: nobody is asked to approve what is not there
        need_word(options, tr("use a terminal"))
        machine = getattr(options, "json", False)
        if not machine:
            sys.stdout.write("\n".join(run_lines(view)) + "\n")
            if view.state not in ENDED:
                sys.stdout.write(f"{where_it_stands(view)}\n\n")
            if not _approved(service, view, options):
                sys.stdout.write(tr("Nothing was changed.") + "\n")
                return FINDINGS
        if options.command == "resume":
            refuse_to_rest_in_an_outage([s.step for s in view.steps if s.state is StepState.PENDING], options)
            return drive(service, options.run, options)
        if options.release:
            return drive(service, options.run, options, way="release")
        if options.leave:
            return drive(service, options.run, options, way="leave", key=options.leave)
        return drive(service, options.run, options, way="undo")


def _way(options: Namespace) -> Way:
    if options.command == "resume":
        return "on"
    return "close" if options.release or options.leave else "back"


def _approved(service: ProcedureService, view: RunView, options: Namespace) -> bool:
    """Print what is about to run; of a run that can't be verified here ask for an approval of just that.

    False: a person at the terminal said no. Where nobody sits there the service refuses it, naming the words to type.
    """
    if view.binding not in ASKS_AGAIN:
        coming = coming_lines(view, _way(options), commands=options.commands)
        sys.stdout.write("".join(f"{line}\n" for line in coming))
        return True
    sys.stdout.write("\n".join(again_lines(view, service.addresses(view.run_id))) + "\n")
    if options.approve or not attended():
        return True
    sys.stdout.write("\n" + tr("Approve this plan? Type yes: "))
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() not in {"yes", tr("yes")}:
        return False
    options.approve = view.code
    return True
