"""`report RUN`: what was planned, checked, done and proven, as Markdown or one HTML file."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from app.cli.arguments import GOOD
from app.cli.machine import print_json
from app.cli.steering import open_service
from app.places import history_file
from services.errors import BadInput
from services.i18n import tr
from services.procedures.service.run_reports import html_of, markdown_of
from services.workstation.files import write_whole


def run(options: Namespace) -> int:
    """Write the report; an existing file is not overwritten."""
    with open_service(options) as service:
        history = history_file(options)
        machine = getattr(options, "json", False)
        if options.html is None and options.markdown is None:
            text = markdown_of(service, options.run, history)
            if machine:
                print_json({"markdown": text})
            else:
                sys.stdout.write(text)
            return GOOD
        for path in (options.html, options.markdown):
            _need_new(path)
        written = []
        for path, make in ((options.html, html_of), (options.markdown, markdown_of)):
            if path is not None:
                _write(path, make(service, options.run, history))
                written.append(str(path))
    if machine:
        print_json({"written": written})
    else:
        sys.stdout.write("".join(f"{path}\n" for path in written))
    return GOOD


def _need_new(path: Path | None) -> None:
    """Refuse a file that exists before anything is written, so that of two reports not only one is."""
    if path is not None and path.exists():
        raise _exists(path)


def _exists(path: Path) -> BadInput:
    return BadInput(
        tr("{file} exists already.", file=path),
        safe=tr("It was not changed."),
        try_=(tr("Choose another file name."),),
    )


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text, new=True)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as problem:
        raise BadInput(tr("{file} cannot be written: {why}.", file=path, why=problem.strerror or problem)) from problem
