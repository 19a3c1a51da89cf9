"""Start-up: arguments, log, error hooks, dispatch, exit code. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
from argparse import Namespace

from app.cli.arguments import BAD_INPUT, BROKEN, CLOSED_PIPE, FINDINGS, NEEDS_PERSON, build_parser
from app.cli.telling import tell
from app.cli.visible import VisibleLines, hold_standard_streams, only_visible
from app.kept_errors import as_ending, what_threads_raise_is_kept
from app.memory_stays import keep_memory_inside
from services.errors import BadInput, JournalDamaged, Unforeseen, UserError
from services.history.free_memory import limit_free_memory
from services.i18n import install, no_translation, tr
from services.workstation.data_place import kept_in
from services.workstation.files import private_by_default

# OpenBLAS starts a thread a core for numpy's linear algebra, which nothing here uses: 100 ms of CPU at start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# numpy asks for huge pages for arrays of 4 MB and more (numpy: "Global state", read once at its import). What the C
# library keeps of such an array after its end stays so marked, and the kernel fills it up again with whole pages:
# packing an hour left 14 MB behind for good.
os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
limit_free_memory()

_MODULES = {
    None: "app.cli.commands.window",
    "demo": "app.cli.commands.window",
    "replay": "app.cli.commands.replay",
    "topology": "app.cli.commands.topology",
    "check": "app.cli.commands.topology",
    "sample": "app.cli.commands.sample",
    "record": "app.cli.commands.record",
    "compare": "app.cli.commands.compare",
    "inventory": "app.cli.commands.inventory",
    "chunks": "app.cli.commands.chunks",
    "procedures": "app.cli.commands.procedures",
    "plan": "app.cli.commands.plan",
    "run": "app.cli.commands.plan",
    "resume": "app.cli.commands.resume",
    "undo": "app.cli.commands.resume",
    "report": "app.cli.commands.report",
    "settle": "app.cli.commands.settle",
}


def main(argv: list[str] | None = None) -> int:
    """Run the program; return its exit code (see app.cli.arguments)."""
    hold_standard_streams()
    keep_memory_inside()
    with only_visible(), private_by_default(), what_threads_raise_is_kept():
        return _ended(argv)


def _ended(argv: list[str] | None) -> int:
    """Run, and see to it that what was printed reached its reader before the exit code is given."""
    try:
        code = _run(argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough; a second error while closing stdout would only confuse.
        _write_nowhere()
        return CLOSED_PIPE
    except OSError as problem:
        _write_nowhere()
        sys.stderr.write(tr("The output cannot be written: {why}.", why=problem.strerror or problem) + "\n")
        return BROKEN
    return code


def _write_nowhere() -> None:
    """Let what is left to be printed go nowhere: the interpreter writes it when it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(argv: list[str] | None) -> int:
    options = build_parser().parse_args(argv)
    if options.version:
        from services.workstation.own_version import own_build  # late: the first paint waits for this module

        sys.stdout.write(f"pilothouse {own_build().line}\n")
        return 0
    _start_log(verbose=getattr(options, "verbose", False))
    with kept_in(getattr(options, "data", None)):
        try:
            return _command(options)
        except BadInput as problem:
            return tell(problem, options, BAD_INPUT)
        except JournalDamaged as problem:
            return tell(problem, options, NEEDS_PERSON)
        except Unforeseen as problem:
            return tell(problem, options, BROKEN)
        except UserError as problem:
            return tell(problem, options, FINDINGS)
        except BrokenPipeError:
            raise
        except Exception as problem:  # noqa: BLE001 - the last boundary: a person reads no traceback
            return tell(as_ending(problem), options, BROKEN)


def _command(options: Namespace) -> int:
    asked: str | None = getattr(options, "language", None)
    installed = install(asked)
    if asked is not None and (missing := no_translation(asked, installed)):
        sys.stderr.write(f"{missing}\n")
    command = importlib.import_module(_MODULES[options.command])
    code: int = command.run(options)
    return code


def _start_log(*, verbose: bool) -> None:
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(VisibleLines("%(asctime)s %(levelname)s %(name)s: %(message)s", traces=verbose))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING, handlers=[lines])
    # paramiko logs every negotiated algorithm, and each refused login as an error of its own; we tell it ourselves.
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)


if __name__ == "__main__":
    sys.exit(main())
