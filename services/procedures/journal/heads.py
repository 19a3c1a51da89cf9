"""Where each run's journal ended when this workstation wrote it last, kept outside the journal (decision 0028).

The seals bind what is there; lines that were cut off the end are only missed by who remembers that there were more. The
journal is written first, then this: a kill between leaves a journal that is ahead of its head, never one behind it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from services.boundary import bounded
from services.errors import StoreError
from services.history.state.procedure_journal import ProcedureLine
from services.history.store_errors import as_store_error
from services.i18n import tr
from services.procedures.journal.seals import Chain, key_id, next_head, unsealed
from services.procedures.plan.run_model import Binding
from services.workstation.files import private_folder, read_bounded, write_whole

FOLDER = "heads"
_CONTEXT = b"pilothouse journal head 1\n"
_MOST_BYTES = 4096
_TEXT = re.compile(r"([0-9]{1,9}) ([0-9]{1,9}) ([0-9a-f]{0,64}) ([0-9a-f]{16}:[0-9a-f]{64})\n\Z")


@dataclass(frozen=True, slots=True)
class Head:
    """The number of a run's last line, 0 for a run that was only reserved, and the chain's head behind it."""

    seq: int = 0
    head: bytes = b""


class Heads(Protocol):
    """Keeps one text for each run."""

    def read(self, run_id: int) -> str:
        """Return what was kept of a run, '' for nothing."""

    def keep(self, run_id: int, text: str) -> None:
        """Keep it; raise StoreError where that fails."""


def _told(own: HeadFiles, problem: BaseException) -> StoreError:
    return as_store_error(problem, str(own.folder))


@bounded(_told)
class HeadFiles:
    """A file for each run beside the store, its owner's alone."""

    def __init__(self, folder: Path) -> None:
        """Read nothing yet; `folder`: the data folder."""
        self.folder = folder / FOLDER

    def read(self, run_id: int) -> str:
        """Return what was kept of a run; '' for nothing, and for what can't be read."""
        try:
            return read_bounded(self._file(run_id), _MOST_BYTES).decode("ascii", "replace")
        except OSError:
            return ""

    def keep(self, run_id: int, text: str) -> None:
        """Keep it, on the disk when this returns; raise StoreError where that fails."""
        file = self._file(run_id)
        try:
            private_folder(self.folder)
            write_whole(file, text, durable=True)
        except OSError as problem:
            raise StoreError(
                tr("The end of the journal of run {run} cannot be recorded in {file}: "
                    "{problem}.", run=run_id, file=file,
                   problem=problem.strerror or problem),
                safe=tr("The journal itself is complete; the run stops without this record."),
                try_=(tr("Check the permissions and free space of the folder, then resume the run."),),
            ) from problem  # fmt: skip

    def _file(self, run_id: int) -> Path:
        return self.folder / f"run-{run_id}.head"


def head_text(run_id: int, head: Head, key: bytes) -> str:
    """Return what is kept of a run."""
    said = f"{run_id} {head.seq} {head.head.hex()}"
    return f"{said} {key_id(key)}:{_mac(said, key)}\n"


def head_of(text: str, run_id: int, key: bytes) -> Head | None:
    """Return what was kept of a run, None for nothing and for what was not written with this key."""
    found = _TEXT.match(text)
    if found is None or int(found[1]) != run_id:
        return None
    said = text.rpartition(" ")[0]
    if not hmac.compare_digest(found[4], f"{key_id(key)}:{_mac(said, key)}"):
        return None
    return Head(int(found[2]), bytes.fromhex(found[3]))


def with_end(chain: Chain, lines: tuple[ProcedureLine, ...], kept: Head | None) -> Chain:
    """Return what lines come to, now that it is known where they ended; `kept`: None where nobody knows."""
    if chain.binding is Binding.CHANGED:
        return chain
    if kept is None:
        unknown = bool(lines) and chain.binding is Binding.BOUND
        return replace(chain, binding=Binding.NO_END) if unknown else chain
    last = lines[-1].seq if lines else 0
    if last < kept.seq:
        return replace(chain, binding=Binding.CUT)
    if _head_at(lines, kept.seq) != kept.head:
        return replace(chain, binding=Binding.CHANGED)
    return chain


def _head_at(lines: Iterable[ProcedureLine], seq: int) -> bytes:
    head = b""
    for line in lines:
        if line.seq > seq:
            break
        head = next_head(head, line.run_id, line.seq, line.kind, line.step_id, unsealed(line.data)[0])
    return head


def _mac(said: str, key: bytes) -> str:
    return hmac.digest(key, _CONTEXT + said.encode("ascii"), "sha256").hex()
