"""The command line that kills itself: `python -m tests.lab.procedures.console.killed_console WHEN COMMAND ...`.

WHEN is a number, or STEP=STATE. SIGKILL comes right after the WHEN-th entry of the journal (or the first that says
that STEP is in STATE) is on the disk, before anything that this entry announces.
"""

from __future__ import annotations

import os
import signal
import sys

from app.__main__ import main
from services.procedures.journal.journal import StoredJournal
from services.procedures.plan.run_model import Entry

Data = dict[str, object] | None


def _kill_after(when: str) -> None:
    append = StoredJournal.append
    written = 0

    def counted(self: StoredJournal, run_id: str, kind: str, step_id: str = "", data: Data = None) -> Entry:
        nonlocal written
        entry = append(self, run_id, kind, step_id, data)
        written += 1
        if when in {str(written), f"{step_id}={(data or {}).get('state')}"}:
            os.kill(os.getpid(), signal.SIGKILL)
        return entry

    StoredJournal.append = counted  # type: ignore[method-assign]


if __name__ == "__main__":
    _kill_after(sys.argv.pop(1))
    sys.exit(main(sys.argv[1:]))
