"""The command line that kills itself: `python -m tests.lab.procedures.killed_console N COMMAND ...`.

SIGKILL comes right after the N-th entry of the journal is on the disk, before anything that entry announces.
"""

from __future__ import annotations

import os
import signal
import sys

from app.__main__ import main
from services.procedures.journal import StoredJournal
from services.procedures.run_model import Entry


def _kill_after(write: int) -> None:
    append = StoredJournal.append
    written = 0

    def counted(self: StoredJournal, run_id: str, kind: str, step_id: str = "", data: object = None) -> Entry:
        nonlocal written
        entry = append(self, run_id, kind, step_id, data)  # type: ignore[arg-type]
        written += 1
        if written == write:
            os.kill(os.getpid(), signal.SIGKILL)
        return entry

    StoredJournal.append = counted  # type: ignore[method-assign]


if __name__ == "__main__":
    _kill_after(int(sys.argv.pop(1)))
    sys.exit(main(sys.argv[1:]))
