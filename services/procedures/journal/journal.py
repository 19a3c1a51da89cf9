"""The journal of runs: in the state store, or in memory for what needs no file. `entries.py` makes its lines."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import replace
from typing import NoReturn

from services.clock import Clock, SystemClock
from services.errors import BadInput, JournalDamaged, StoreError, UserError
from services.history.state.procedure_journal import Hold, ProcedureLine
from services.history.state.store import StateStore
from services.i18n import tr
from services.procedures.journal.approval import refuse_unbound
from services.procedures.journal.codec import plain
from services.procedures.journal.entries import approved_again
from services.procedures.journal.heads import Head, Heads, head_of, head_text, with_end
from services.procedures.journal.lines import entry_of
from services.procedures.journal.seal_key import SealKey
from services.procedures.journal.seals import Chain, chain_of, next_head, next_times, sealed
from services.procedures.plan.run_model import ASKS_AGAIN, Binding, Entry

OBLIGATION_KINDS = ("obligation-taken", "obligation-discharged", "note")
"""The kinds that `open_obligations` reads."""


class DrivenElsewhere(UserError):  # noqa: N818 - the name says what happened, as in services.errors
    """Another program of this workstation drives the run: two drivers of one run would act twice."""

    code = "driven-elsewhere"


class StoredJournal:
    """The journal in a state store; every entry is committed and synced before `append` returns. Thread-safe.

    Two engines that write one run are told apart by the last entry each of them knows: the one whose entry would not
    follow it gets StoreError and must read the run again. `entries` only counts as that reading while this journal is
    not writing the run itself, so that a page which shows the run can't hide the other writer from the engine. After a
    StoreError an engine stops (it must not act without a journal) and begins again with `entries`.

    Every line is sealed with this workstation's key (`seals.py`), as long as the lines before it are bound to it: a
    line behind a stranger's words must not make them ours. Where they end is kept behind each of them (`heads.py`).
    """

    def __init__(self, store: StateStore, key: SealKey | None = None, heads: Heads | None = None) -> None:
        """Begin.

        Args:
            key: of this workstation; without one nothing is sealed, and no run can be bound to its approval.
            heads: where the journal's ends are kept; without them lines cut off its end are not missed.
        """
        self._log = store.procedures()
        self._name = store.name
        self._seal_key = key
        self._heads = heads
        self._lock = threading.RLock()
        self._chains: dict[int, Chain] = {}  # run -> what its lines up to the one in `_known` come to
        self._known: dict[int, int] = {}  # run -> number of the last entry that its writer here knows
        self._writing: set[int] = set()
        self._holds: dict[int, Hold | None] = {}

    def new_run(self, procedure: str, cluster_id: str, title: str) -> str:
        """Reserve and return a run's id."""
        number = self._log.new_run(str(plain(procedure)), cluster_id, str(plain(title)))
        with self._lock:
            self._keep_head(number, Head())  # what an older store left under this number counts no more
            self._known[number], self._chains[number] = 0, Chain()
        return str(number)

    def append(self, run_id: str, kind: str, step_id: str = "", data: dict[str, object] | None = None) -> Entry:
        """Write one entry; it is on the disk when this returns. Raises StoreError."""
        number, text = self._number(run_id), json_text(data)
        with self._lock:
            if number not in self._known:
                self._read(number)
            try:
                line, chain = self._sealed_line(number, kind, step_id, text)
            except StoreError:
                # Somebody else writes, or whether it was written is not known (a failing disk): what is known stays
                # refused until the run was read again.
                self._writing.discard(number)
                raise
            self._known[number], self._chains[number] = line.seq, chain
            self._writing.add(number)
            if number not in self._holds:
                self._holds[number] = self._log.hold(number)
        return entry_of(line)

    def _sealed_line(self, number: int, kind: str, step_id: str, text: str) -> tuple[ProcedureLine, Chain]:
        chain = self._chains.get(number) or self._chain(number, self._key())[1]
        known = self._known[number]
        at = self._log.moment()
        head, times = next_head(chain.head, number, known + 1, kind, step_id, text), next_times(chain.times, at)
        if self._seal_key is None or chain.binding is not Binding.BOUND:
            return self._log.append(number, known, kind, step_id, text, at), Chain(head, chain.binding, times)
        line = self._log.append(number, known, kind, step_id, sealed(text, self._seal_key.key(), head, times), at)
        self._keep_head(number, Head(line.seq, head))
        return line, Chain(head, times=times)

    def _keep_head(self, number: int, head: Head) -> None:
        key = self._key()
        if self._heads is not None and key is not None:
            self._heads.keep(number, head_text(number, head, key))

    def _chain(self, number: int, key: bytes | None) -> tuple[tuple[ProcedureLine, ...], Chain]:
        """Return a run's lines and what they come to. The head is read first: lines only ever get ahead of it."""
        kept = self._heads.read(number) if self._heads is not None else ""
        lines = self._log.lines(number)
        chain = chain_of(lines, key)
        if self._heads is None or key is None:
            return lines, chain
        return lines, with_end(chain, lines, head_of(kept, number, key))

    def _key(self) -> bytes | None:
        return self._seal_key.key() if self._seal_key is not None else None

    def _read(self, number: int, lines: tuple[ProcedureLine, ...] | None = None) -> tuple[ProcedureLine, ...]:
        """Return the run's lines, and take them for what a writer here goes on from; under the lock."""
        lines = self._log.lines(number) if lines is None else lines
        if number not in self._writing:
            self._known[number] = lines[-1].seq if lines else 0
            self._chains.pop(number, None)
        return lines

    def chain(self, run_id: str) -> Chain:
        """Return what the run's lines come to now; where the key can't be had, they are as those of another one."""
        number = self._number(run_id)
        try:
            key = self._key()
        except StoreError:
            key = None
        return self._chain(number, key)[1]

    def bound_entries(self, run_id: str) -> tuple[Entry, ...]:
        """Return the entries of a run whose lines all are this workstation's own words; else raise, see `approval`."""
        number = self._number(run_id)
        with self._lock:
            lines, chain = self._chain(number, self._key())
            self._read(number, lines)
            refuse_unbound(run_id, chain)
        return tuple(entry_of(line) for line in lines)

    def bind_again(self, run_id: str, code: str, by: str) -> None:
        """Make the run's words this workstation's: a person has read the plan here and approves it as it stands.

        Args:
            code: of what was shown; NotBound is raised where the lines come to another one by now.
        """
        number = self._number(run_id)
        with self._lock:
            lines, chain = self._chain(number, self._key())
            self._read(number, lines)
            if chain.binding not in ASKS_AGAIN or code != chain.code:
                refuse_unbound(run_id, chain)
                return
            self._chains[number] = Chain(chain.head, times=chain.times)
            # Under the same lock: a page that reads the run between would make its words strange again.
            self.append(run_id, *approved_again(by, chain.binding.value))

    def let_go(self, run_id: str) -> None:
        """Say that nothing here writes the run any more; the next `entries` is again what a writer goes on from."""
        number = self._number(run_id)
        with self._lock:
            self._writing.discard(number)
            hold = self._holds.pop(number, None)
            if hold is not None:
                hold.let_go()

    def written_elsewhere(self, run_id: str) -> bool:
        """Tell whether another program of this workstation writes the run now."""
        number = self._number(run_id)
        with self._lock:
            return self._holds.get(number) is None and self._log.is_held(number)

    @property
    def knows_writers(self) -> bool:
        """Whether `written_elsewhere` can tell: of a store that several workstations share it can't."""
        return self._log.is_local

    def refuse_other_writer(self, run_id: str) -> None:
        """Raise DrivenElsewhere while another program of this workstation writes the run."""
        if self.written_elsewhere(run_id):
            raise DrivenElsewhere(
                tr("Run {run} is driven by another program of this workstation, a terminal or a window.", run=run_id),
                safe=tr("Nothing was done here."),
                try_=(tr("Control it there, or end that program: then the run is suspended and can be resumed here."),),
            )

    def marks(self) -> dict[str, int]:
        """Return the number of each run's last entry: what changed since is seen without reading it."""
        return {str(number): last for number, last in self._log.marks().items()}

    def entries(self, run_id: str) -> tuple[Entry, ...]:
        """Return a run's entries in order, () for one that was only reserved; BadInput for an unknown run."""
        number = self._number(run_id)
        with self._lock:
            lines = self._read(number)
            if not lines and not self._log.has(number):
                _unknown(run_id, self._name)
        return tuple(entry_of(line) for line in lines)

    def runs(self) -> tuple[str, ...]:
        """Return the ids of all runs that have an entry, newest first."""
        return tuple(str(number) for number in self._log.runs())

    def obligation_entries(self) -> tuple[Entry, ...]:
        """Return what `open_obligations` needs of all runs, in one read. A damaged line of one run hides no other's."""
        found = []
        for line in self._log.lines(kinds=OBLIGATION_KINDS):
            with contextlib.suppress(JournalDamaged):  # told where its run is read (ProcedureService.damaged)
                found.append(entry_of(line))
        return tuple(found)

    def _number(self, run_id: str) -> int:
        # An id of more digits than any database's integer has is unknown, not an error of the driver.
        known = run_id.isascii() and run_id.isdigit() and len(run_id) < 10
        return int(run_id) if known else _unknown(run_id, self._name)


class BoundJournal:
    """What an engine reads and writes (run_model.Journal): it goes on only from words that are bound here."""

    def __init__(self, journal: StoredJournal) -> None:
        self._journal = journal

    def new_run(self, procedure: str, cluster_id: str, title: str) -> str:
        """Reserve and return a run's id."""
        return self._journal.new_run(procedure, cluster_id, title)

    def append(self, run_id: str, kind: str, step_id: str = "", data: dict[str, object] | None = None) -> Entry:
        """Write one entry, sealed."""
        return self._journal.append(run_id, kind, step_id, data)

    def entries(self, run_id: str) -> tuple[Entry, ...]:
        """Return a run's entries in order; raises JournalChanged, NotBound, BadInput for an unknown run."""
        return self._journal.bound_entries(run_id)

    def runs(self) -> tuple[str, ...]:
        """Return all run ids, newest first."""
        return self._journal.runs()


class MemoryJournal:
    """A journal that a test or a rehearsal throws away. Thread-safe; data passes through JSON like in the store."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._runs: dict[str, list[Entry]] = {}

    def new_run(self, procedure: str, cluster_id: str, title: str) -> str:
        """Reserve and return a run's id."""
        del procedure, cluster_id, title  # only the store has a table of runs
        with self._lock:
            run_id = str(len(self._runs) + 1)
            self._runs[run_id] = []
        return run_id

    def append(self, run_id: str, kind: str, step_id: str = "", data: dict[str, object] | None = None) -> Entry:
        """Write one entry."""
        kept = json.loads(json_text(data))
        with self._lock:
            entries = self._runs[run_id] if run_id in self._runs else _unknown(run_id)
            entry = Entry(run_id, len(entries) + 1, self._clock.wall(), kind, step_id, kept)
            entries.append(entry)
        return entry

    def entries(self, run_id: str) -> tuple[Entry, ...]:
        """Return a run's entries in order; BadInput for an unknown run."""
        with self._lock:
            return tuple(self._runs[run_id]) if run_id in self._runs else _unknown(run_id)

    def runs(self) -> tuple[str, ...]:
        """Return the ids of all runs that have an entry, newest first."""
        with self._lock:
            return tuple(run_id for run_id in reversed(self._runs) if self._runs[run_id])

    def obligation_entries(self) -> tuple[Entry, ...]:
        """Return what `open_obligations` needs of all runs."""
        with self._lock:
            return tuple(e for entries in self._runs.values() for e in entries if e.kind in OBLIGATION_KINDS)

    def cut(self, run_id: str, seq: int) -> MemoryJournal:
        """Return a journal as it was when entry `seq` had just been written: what a kill there leaves."""
        found = MemoryJournal(self._clock)
        with self._lock:
            found._runs = {key: list(entries) for key, entries in self._runs.items()}
        found._runs[run_id] = [replace(entry) for entry in found._runs[run_id] if entry.seq <= seq]
        return found


def json_text(data: dict[str, object] | None) -> str:
    """Return `data` as one line of ASCII JSON, translated sentences in English.

    Raises StoreError for a secret or a number that JSON lacks, TypeError for anything else that is no plain data.
    """
    return json.dumps(plain(data or {}), ensure_ascii=True, allow_nan=False, separators=(",", ":"))


class UnknownRun(BadInput):
    """This journal has no such run; another data folder may have it.

    Attributes:
        run_id: what was asked for.
    """

    def __init__(self, run_id: str, journal: str = "") -> None:
        """Say which journal was read, '' where it is in no file."""
        sentence = tr("There is no run '{run}' in this journal.", run=run_id)
        if journal:
            sentence = tr("There is no run '{run}' in this journal: {journal}.", run=run_id, journal=journal)
        super().__init__(sentence, try_=(tr("List the runs: pilothouse procedures --runs"),))
        self.run_id = run_id


def _unknown(run_id: str, journal: str = "") -> NoReturn:
    raise UnknownRun(run_id, journal)
