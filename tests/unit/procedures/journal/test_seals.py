"""The seals of the journal: what was changed, left out, moved or put in by hand is no more what was approved."""

from __future__ import annotations

import hmac
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.clock import SystemClock
from services.errors import BadInput, StoreError
from services.history.state.procedure_journal import ProcedureLine
from services.history.state.store import StateStore
from services.inventory.model import Inventory
from services.procedures.engine.parts import Policy
from services.procedures.journal.approval import JournalChanged, NotBound
from services.procedures.journal.entries import approved, planned
from services.procedures.journal.journal import StoredJournal, json_text
from services.procedures.journal.seal_key import KEY_FILE, WorkstationKey
from services.procedures.journal.seals import KEY_BYTES, Seal, chain_of, key_id, next_head, next_times, sealed, unsealed
from services.procedures.plan.run_model import Binding, RunState
from services.secrets import MemoryVault, Secret, SecretRef
from tests.unit.procedures.acts.test_service import LONG, SHORT, WorldService, draft_of, until
from tests.unit.procedures.engine_world import FixedKey, World, WorldLock

KEY = b"k" * KEY_BYTES


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


@pytest.fixture
def store(file: Path) -> Iterator[StateStore]:
    with StateStore.open(file) as opened:
        yield opened


def service_on(store: StateStore, letter: bytes = b"a", world: World | None = None) -> WorldService:
    """A console of its own on this store; another letter is another workstation's key."""
    made = WorldService(Inventory(), MemoryVault(), store, SystemClock(), FixedKey(letter))
    made.world, made.lock = world or World(), WorldLock()
    return made


def edit(file: Path, kind: str, change: Callable[[dict[str, object]], None]) -> None:
    """Change the newest line of a kind by hand, as somebody does who can write to the database."""
    with closing(sqlite3.connect(file)) as base, base:
        where = "WHERE rowid = (SELECT max(rowid) FROM procedure_entry WHERE kind = ?)"
        (text,) = base.execute(f"SELECT data FROM procedure_entry {where}", (kind,)).fetchone()
        data = json.loads(text)
        change(data)
        base.execute(f"UPDATE procedure_entry SET data = ? {where}", (json_text(data), kind))


def steps(data: dict[str, object]) -> list[dict[str, object]]:
    """The steps of the plan in a line 'planned'."""
    plan = data["plan"]
    assert isinstance(plan, dict)
    found: list[dict[str, object]] = plan["steps"]
    return found


def _bits(action: object) -> list[dict[str, object]]:
    assert isinstance(action, dict)
    found: list[dict[str, object]] = action["statement"]["bits"]
    return found


def _another_command(data: dict[str, object]) -> None:
    value = next(bit for bit in _bits(steps(data)[0]["action"]) if bit["is"] == "Value")
    value["value"] = "OFF"


def _another_undo(data: dict[str, object]) -> None:
    undo = steps(data)[0]["undo"]
    assert isinstance(undo, dict)
    next(bit for bit in _bits(undo["action"]) if bit["is"] == "Value")["value"] = "ON"


TAMPERED: dict[str, Callable[[dict[str, object]], None]] = {
    "host": lambda data: steps(data)[0].update(host="n3"),
    "command": _another_command,
    "order": lambda data: steps(data).reverse(),
    "undo": _another_undo,
    "no undo": lambda data: steps(data)[0].update(undo=None, why="It is so."),
    "proof": lambda data: steps(data)[0].update(proof=[]),
    "limit": lambda data: steps(data)[0].update(limit_s=86_400.0),
    "inputs": lambda data: data.update(inputs={"node": "n3"}),
    "overrides": lambda data: data.update(checks=[], overrides=[{"is": "Override", "code": "X", "reason": "y"}]),
    "owner": lambda data: data.update(owner="eva@desk2"),
}


WAYS = ("run", "undo", "leave", "release")


@pytest.mark.parametrize(
    ("field", "way"),
    [
        pytest.param(field, way, marks=[] if at % len(WAYS) == turn else [pytest.mark.long])
        for at, field in enumerate(TAMPERED)
        for turn, way in enumerate(WAYS)
    ],
)
def test_that_a_plan_changed_by_hand_is_refused_whichever_way(
    store: StateStore, file: Path, field: str, way: str
) -> None:
    """A run changes each field once, and tries each way with some of them; `test everything` tries all with each."""
    service = service_on(store)
    run_id = service.new_run(draft_of(LONG))
    service.start(run_id)
    until(lambda: service.view(run_id).steps[1].state.value == "acting")
    assert service.close()
    done = list(service.world.done)
    edit(file, "planned", TAMPERED[field])
    second = service_on(store, world=service.world)
    lines = len(second.journal.entries(run_id))
    with pytest.raises(JournalChanged) as refused:
        second.drive(run_id, way=way, key="x" if way == "leave" else "")
    assert "was changed after this workstation wrote it" in str(refused.value)
    assert refused.value.try_ != ()
    assert service.world.done == done
    assert second.view(run_id).binding is Binding.CHANGED
    assert [o.obligation.key for o in second.obligations()] == ["frozen:n1"]  # they stay on screen
    assert len(second.journal.entries(run_id)) == lines


def test_that_a_plan_changed_between_approval_and_begin_is_refused(store: StateStore, file: Path) -> None:
    service = service_on(store)
    run_id = service.new_run(draft_of(SHORT))
    edit(file, "planned", _another_command)
    with pytest.raises(JournalChanged):
        service.drive(run_id)
    assert service.world.done == []
    service.journal.let_go(run_id)


@pytest.mark.parametrize("kind", ["note", "approved", "run", "step", "obligation-taken", "lock"])
def test_that_any_line_changed_by_hand_is_seen_not_only_the_plan(store: StateStore, file: Path, kind: str) -> None:
    service = service_on(store)
    run_id = service.new_run(draft_of(LONG))
    service.start(run_id)
    until(lambda: service.view(run_id).steps[1].state.value == "acting")
    assert service.close()
    edit(file, kind, lambda data: data.update(text='{"n1": ["192.0.2.66", "n1"]}'))
    assert service.journal.chain(run_id).binding in {Binding.CHANGED, Binding.ELSEWHERE}
    with pytest.raises((JournalChanged, NotBound)):
        service.drive(run_id)


@pytest.mark.parametrize("seq", [1, 4, -1])
@pytest.mark.parametrize("moved", [-3600.0, 0.001])
def test_that_a_line_moved_in_time_is_seen(store: StateStore, file: Path, seq: int, moved: float) -> None:
    service = service_on(store)
    run_id = service.new_run(draft_of(SHORT))
    assert service.drive(run_id) is RunState.DONE
    number = store.procedures().lines(int(run_id))[seq if seq < 0 else seq - 1].seq
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("UPDATE procedure_entry SET at = at + ? WHERE seq = ?", (moved, number))
    assert service.journal.chain(run_id).binding is Binding.CHANGED
    with pytest.raises(JournalChanged):
        service.journal.bound_entries(run_id)


def test_that_times_are_bound_behind_a_new_approval_too(store: StateStore, file: Path) -> None:
    run_id = _written_by(StoredJournal(store))  # no line has a seal
    service = service_on(store)
    assert service.drive(run_id, policy=Policy(approved=service.view(run_id).code, by="ann")) is RunState.DONE
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("UPDATE procedure_entry SET at = at - 60 WHERE seq = 1")
    assert service.journal.chain(run_id).binding is Binding.CHANGED


def test_that_a_line_cut_out_of_the_middle_is_seen(store: StateStore, file: Path) -> None:
    service = service_on(store)
    run_id = service.new_run(draft_of(SHORT))
    assert service.drive(run_id) is RunState.DONE
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("DELETE FROM procedure_entry WHERE seq = 4")
        base.execute("UPDATE procedure_entry SET seq = seq - 1 WHERE seq > 4")
    assert service.journal.chain(run_id).binding is Binding.CHANGED


def test_that_a_run_killed_behind_any_line_is_still_bound(store: StateStore, file: Path) -> None:
    service = service_on(store)
    run_id = service.new_run(draft_of(SHORT))
    assert service.drive(run_id) is RunState.DONE
    lines = store.procedures().lines(int(run_id))
    assert len(lines) > 8
    key = FixedKey().key()
    for end in range(len(lines) + 1):
        assert chain_of(lines[:end], key).binding is Binding.BOUND


def test_that_a_run_from_before_digests_asks_for_an_approval_of_what_is_shown(store: StateStore) -> None:
    old = StoredJournal(store)  # without a key, as every journal was
    run_id = _written_by(old)
    service = service_on(store)
    view = service.view(run_id)
    assert view.binding is Binding.OLD
    assert "was approved before digests existed" in view.sentence
    with pytest.raises(NotBound) as refused:
        service.drive(run_id)
    assert refused.value.approve == view.code
    with pytest.raises(NotBound):
        service.drive(run_id, policy=Policy(approved="0" * 16))
    assert service.world.done == []
    assert service.drive(run_id, policy=Policy(approved=view.code, by="ann")) is RunState.DONE
    assert service.world.done == ["n1: a=ON"]
    assert service.journal.chain(run_id).binding is Binding.BOUND


def test_that_a_run_of_another_workstation_asks_on_both_sides(store: StateStore) -> None:
    ann, eva = service_on(store, b"a"), service_on(store, b"e")
    run_id = ann.new_run(draft_of(SHORT))
    ann.journal.let_go(run_id)
    assert eva.view(run_id).binding is Binding.ELSEWHERE
    with pytest.raises(NotBound, match="cannot be verified here"):
        eva.drive(run_id)
    eva.journal.bind_again(run_id, eva.view(run_id).code, "eva")
    eva.journal.let_go(run_id)
    assert eva.view(run_id).binding is Binding.BOUND
    assert ann.view(run_id).binding is Binding.ELSEWHERE
    with pytest.raises(NotBound):
        ann.drive(run_id)
    assert ann.world.done == []


def test_that_a_page_that_reads_the_run_meanwhile_takes_no_approval_away(
    store: StateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = _written_by(StoredJournal(store))
    journal = StoredJournal(store, FixedKey())
    append = journal.append
    readers: list[threading.Thread] = []

    def read_first(*line: Any) -> object:
        readers.append(threading.Thread(target=journal.entries, args=(run_id,)))
        readers[-1].start()
        readers[-1].join(0.3)
        return append(*line)

    monkeypatch.setattr(journal, "append", read_first)
    journal.bind_again(run_id, journal.chain(run_id).code, "ann")
    readers[0].join()
    assert journal.chain(run_id).binding is Binding.BOUND
    journal.let_go(run_id)


def test_that_lines_put_behind_ours_are_not_followed_without_a_new_approval(store: StateStore) -> None:
    service = service_on(store)
    run_id = service.new_run(draft_of(SHORT))
    service.journal.let_go(run_id)
    StoredJournal(store).append(run_id, "note", "", {"about": "hosts", "text": '{"n1": ["192.0.2.66", "n1"]}'})
    assert service.view(run_id).binding is Binding.ELSEWHERE
    with pytest.raises(NotBound):
        service.drive(run_id)
    assert service.world.done == []


def test_that_a_look_at_obligations_neither_follows_nor_writes_to_a_run_of_elsewhere(store: StateStore) -> None:
    ann = service_on(store, b"a")
    run_id = ann.new_run(draft_of(LONG))
    ann.start(run_id)
    until(lambda: ann.view(run_id).steps[1].state.value == "acting")
    assert ann.close()
    eva = service_on(store, b"e", ann.world)
    lines = len(eva.journal.entries(run_id))
    assert [o.obligation.key for o in eva.look_at_obligations()] == ["frozen:n1"]
    assert len(eva.journal.entries(run_id)) == lines
    assert ann.view(run_id).binding is Binding.BOUND


def test_that_what_breaks_the_laws_is_not_approved_again_either(store: StateStore, file: Path) -> None:
    run_id = _written_by(StoredJournal(store))
    edit(file, "planned", lambda data: steps(data)[0].update(host="n9"))
    service = service_on(store)
    with pytest.raises(BadInput, match="violates the plan rules"):
        service.drive(run_id, policy=Policy(approved=service.view(run_id).code))
    assert service.world.done == []


def _written_by(journal: StoredJournal) -> str:
    run_id = journal.new_run(SHORT.procedure, SHORT.cluster_id, SHORT.title)
    journal.append(run_id, *planned(SHORT, {}, (), (), "ann@desk"))
    journal.append(run_id, *approved("ann@desk"))
    journal.let_go(run_id)
    return run_id


# -- the text of a line ----------------------------------------------------------------------------------------------

_DATA = st.dictionaries(st.text(max_size=8), st.text(max_size=20) | st.integers() | st.none(), max_size=4)


@given(_DATA, st.binary(min_size=32, max_size=32))
def test_that_a_seal_comes_off_as_it_went_on(data: dict[str, object], head: bytes) -> None:
    text = json_text(data)
    with_seal = sealed(text, KEY, head, head)
    assert json.loads(with_seal).keys() >= data.keys() - {"seal"}
    assert unsealed(with_seal)[0] == text
    assert unsealed(text) == (text, Seal())


def test_that_a_line_is_bound_to_its_run_its_place_its_kind_and_its_step() -> None:
    text = json_text({"state": "done"})
    head, times = next_head(b"", 1, 1, "step", "stop-n1", text), next_times(b"", 0.0)
    line = ProcedureLine(1, 1, 0.0, "step", "stop-n1", sealed(text, KEY, head, times))
    assert chain_of((line,), KEY).binding is Binding.BOUND
    for moved in (
        ProcedureLine(2, 1, 0.0, "step", "stop-n1", line.data),
        ProcedureLine(1, 2, 0.0, "step", "stop-n1", line.data),
        ProcedureLine(1, 1, 0.0, "note", "stop-n1", line.data),
        ProcedureLine(1, 1, 0.0, "step", "stop-n2", line.data),
        ProcedureLine(1, 1, 0.5, "step", "stop-n1", line.data),
    ):
        assert chain_of((moved,), KEY).binding is Binding.CHANGED


# -- seals of before their times were bound --------------------------------------------------------------------------


def _old_line(before: tuple[ProcedureLine, ...], at: float) -> ProcedureLine:
    """A line as it was sealed before times were bound (version 1)."""
    seq, text = len(before) + 1, json_text({"about": "x", "text": "y"})
    head = next_head(chain_of(before, KEY).head, 1, seq, "note", "", text)
    mac = hmac.digest(KEY, b"pilothouse journal line 1\n" + head, "sha256").hex()
    return ProcedureLine(1, seq, at, "note", "", f'{text[:-1]},"seal":"{key_id(KEY)}:{mac}"}}')


def _new_line(before: tuple[ProcedureLine, ...], at: float) -> ProcedureLine:
    seq, text, chain = len(before) + 1, json_text({"about": "x", "text": "y"}), chain_of(before, KEY)
    head, times = next_head(chain.head, 1, seq, "note", "", text), next_times(chain.times, at)
    return ProcedureLine(1, seq, at, "note", "", sealed(text, KEY, head, times))


def test_that_an_old_seal_holds_until_the_first_new_one_which_binds_the_times_before_it() -> None:
    first = (_old_line((), 5.0),)
    old = (*first, _old_line(first, 6.0))
    assert chain_of(old, KEY).binding is Binding.BOUND
    both = (*old, _new_line(old, 7.0))
    assert chain_of(both, KEY).binding is Binding.BOUND
    assert chain_of((replace(both[0], at=4.0), *both[1:]), KEY).binding is Binding.CHANGED


def test_that_an_old_seal_behind_a_new_one_is_not_followed() -> None:
    """With the key in hand even: so no line of an older text is ever taken where times were bound already."""
    first = (_new_line((), 5.0),)
    assert chain_of((*first, _old_line(first, 6.0)), KEY).binding is Binding.CHANGED


def test_that_a_new_seal_is_none_of_the_old_version() -> None:
    line = _new_line((), 5.0)
    as_old = replace(line, data=line.data.replace(':2"}', '"}'), at=4.0)
    assert unsealed(as_old.data)[1].version == 1
    assert chain_of((as_old,), KEY).binding is Binding.CHANGED
    assert chain_of((replace(as_old, at=5.0),), KEY).binding is Binding.CHANGED


# -- the key ---------------------------------------------------------------------------------------------------------


def test_that_the_key_is_kept_in_the_keyring_where_there_is_one(tmp_path: Path) -> None:
    vault = _Keyring()
    key = WorkstationKey(tmp_path, vault).key()
    assert len(key) == KEY_BYTES
    assert WorkstationKey(tmp_path, vault).key() == key
    assert not (tmp_path / KEY_FILE).exists()
    (tmp_path / KEY_FILE).write_text("0" * 64)  # put there by somebody who can write files here
    assert WorkstationKey(tmp_path, vault).key() == key


def test_that_without_a_keyring_the_key_is_in_a_file_of_its_owner_alone(tmp_path: Path) -> None:
    key = WorkstationKey(tmp_path).key()  # the suite has no keyring
    assert WorkstationKey(tmp_path).key() == key
    assert list(tmp_path.iterdir()) == [tmp_path / KEY_FILE]
    if os.name == "posix":
        assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600


def test_that_a_keyring_that_keeps_nothing_is_not_relied_on(tmp_path: Path) -> None:
    forgets = _Keyring(keeps=False)
    assert WorkstationKey(tmp_path, forgets).key() == WorkstationKey(tmp_path, forgets).key()


@pytest.mark.skipif(os.name != "posix", reason="rights of a file are POSIX's")
def test_that_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    WorkstationKey(tmp_path).key()
    (tmp_path / KEY_FILE).chmod(0o640)
    with pytest.raises(StoreError, match="Others may read or write the key"):
        WorkstationKey(tmp_path).key()


def test_that_a_damaged_key_is_told_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text("short")
    (tmp_path / KEY_FILE).chmod(0o600)
    with pytest.raises(StoreError, match="cannot be read"):
        WorkstationKey(tmp_path).key()
    assert (tmp_path / KEY_FILE).read_text() == "short"


class _Keyring(MemoryVault):
    """A keyring in memory; one that does not keep takes everything and has nothing, as keyring's null backend."""

    def __init__(self, *, keeps: bool = True) -> None:
        super().__init__()
        self._keeps = keeps

    def put(self, ref: SecretRef, secret: Secret) -> None:
        """Keep it, or seem to."""
        if self._keeps:
            super().put(ref, secret)
