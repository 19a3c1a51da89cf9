"""`resume RUN` and `undo RUN`: go on by proof, take back, release what is on, or close a run as it stands."""

from __future__ import annotations

import sys
from argparse import Namespace

from app.commands.plan import drive
from app.procedure_text import run_lines
from app.steering import need_word, open_desk
from services.procedures.fold import ENDED
from services.procedures.standing import where_it_stands
from services.words import tr


def run(options: Namespace) -> int:
    """Go on or back. Exit codes: see app.arguments."""
    need_word(options, tr("sit at a terminal"))
    with open_desk(options) as desk:
        view = desk.view(options.run)
        machine = getattr(options, "json", False)
        if not machine:
            sys.stdout.write("\n".join(run_lines(view)) + "\n")
            if view.state not in ENDED:
                sys.stdout.write(f"{where_it_stands(view)}\n\n")
        if options.command == "resume":
            return drive(desk, options.run, options)
        if options.release:
            return drive(desk, options.run, options, way="release")
        if options.leave:
            return drive(desk, options.run, options, way="leave", key=options.leave)
        return drive(desk, options.run, options, way="undo")
