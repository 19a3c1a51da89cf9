"""What nobody foresaw, kept whole for a report and told as one sentence: no traceback reaches a person."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from services.boundary import why
from services.errors import Unforeseen, UserError
from services.i18n import tr
from services.workstation import data_place
from services.workstation.files import private_folder, write_whole

log = logging.getLogger("pilothouse")
NAME = "errors.log"
_NO_THREAD = "can't start new thread"
"""CPython's words; no class or code tells this RuntimeError from another one (Modules/_threadmodule.c)."""
_MOST = 200_000
"""Characters that are kept, the newest: a fault that comes again each second fills no disk."""


def keep(error: BaseException, trace: TracebackType | None = None) -> Path | None:
    """Write the traceback to the data folder's log; return the file, None where none can be written."""
    whole = "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))
    log.debug("uncaught: %s", whole)
    try:
        file = data_place.folder() / NAME
        private_folder(file.parent)
        before = file.read_text("utf-8", "replace")[-_MOST:] if file.is_file() else ""
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        write_whole(file, f"{before}{moment} {whole}".encode("utf-8", "backslashreplace"))
    except (OSError, UserError):
        return None
    return file


def as_user_error(error: BaseException, file: Path | None, advice: str = "") -> UserError:
    """Return the sentence for an error that nobody foresaw, with the file that keeps it; one of ours stays as it is."""
    if isinstance(error, UserError):
        return error
    report = tr("Repeat the command with --verbose, and report the error with the additional output.")
    if file is not None:
        report = tr("Report the error with the last lines of {file}.", file=file)
    kind = type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        of = f" ({error.filename})" if error.filename else ""
        what = tr(
            "The operating system of this workstation refused an operation: {error}.", error=f"{error.strerror}{of}"
        )
    elif isinstance(error, MemoryError) or str(error) == _NO_THREAD:
        what = tr("Pilothouse cannot get more memory or threads on this workstation: {error}.", error=why(error))
        advice = tr(
            "Check ulimit -a and what else is running: the process limit (-u) applies to all programs of a "
            "user together."
        )
    elif isinstance(error, ImportError):
        what = tr("A part of Pilothouse or a library that it needs cannot be loaded: {error}.", error=error)
    else:
        what = tr("Internal error in Pilothouse: {kind}: {error}", kind=kind, error=error)
    return Unforeseen(what, safe=tr("Nothing is retried automatically."), try_=tuple(filter(None, (advice, report))))


def as_ending(error: BaseException) -> UserError:
    """Return what ends the program as a sentence, and keep it; what a person reads already stays as it is."""
    return error if isinstance(error, UserError) else as_user_error(error, keep(error))


@contextlib.contextmanager
def what_threads_raise_is_kept() -> Iterator[None]:
    """What a thread or a destructor raises meanwhile is kept and told in a line: Python itself prints a traceback."""
    threads, destructors = threading.excepthook, sys.unraisablehook
    threading.excepthook = lambda args: _tell(args.exc_value, args.exc_traceback)
    sys.unraisablehook = lambda args: _tell(args.exc_value, args.exc_traceback)
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = threads, destructors


def _tell(error: BaseException | None, trace: TracebackType | None) -> None:
    if error is None or isinstance(error, SystemExit):
        return
    log.error("%s", as_user_error(error, keep(error, trace)).as_text())
