"""Recordings made by somebody who means harm: each is refused or shown in part, quickly and in little memory."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import struct
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import zstandard

from services.clock import ManualClock
from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView
from services.errors import UserError
from services.events import Event
from services.history import snapshots
from services.history.columns import rollup
from services.history.columns.codec import Block
from services.history.recordings import guarded
from services.history.recordings.bounds import CodecError
from services.history.recordings.recording import finish_recording
from services.history.store import HistoryStore
from services.sampling.replay import Replay
from services.series import Sample
from tests.unit.history.conftest import START

LITTLE = 96 * 2**20
"""Bytes that opening and reading a recording of a few kilobytes may take at most at any one time."""
Ruin = Callable[[sqlite3.Connection], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "sound.pilothouse"
    clock = ManualClock(START)
    store = HistoryStore.open(path, clock=clock, background=False, snapshot_every_s=2.0)
    for second in range(20):
        store.append(Sample("db1", clock.wall(), clock.monotonic(), {"uptime": 5.0 + second, "questions": second}, "1"))
        nodes = (NodeView("a", "db1", state=f"Synced {second}"),)
        cluster = ClusterSnapshot("c", GALERA, "prod", clock.wall(), nodes=nodes)
        store.append_snapshot(EstateSnapshot(clock.wall(), clusters=(cluster,), hosts_total=1))
        store.append_event(Event(clock.wall(), "note", "seen"))
        store.flush()
        clock.advance(1.0)
    store.close()
    finish_recording(path)
    return path


@pytest.fixture
def ruined(sound: Path, tmp_path: Path) -> Callable[..., Path]:
    """Copy the sound recording and change it, its schema too where `schema` says so."""

    def ruined_(ruin: Ruin, *, schema: bool = False) -> Path:
        path = tmp_path / "sent.pilothouse"
        path.write_bytes(sound.read_bytes())
        connection = sqlite3.connect(path, isolation_level=None)
        if schema:
            connection.execute("PRAGMA writable_schema=ON")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("BEGIN")
        ruin(connection)
        connection.execute("COMMIT")
        connection.close()
        return path

    return ruined_


@pytest.fixture
def little() -> Iterator[None]:
    """The test takes little memory and little time."""
    begun = time.process_time()
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < LITTLE
    assert time.process_time() - begun < 20.0


def use(path: Path) -> Replay:
    """Do with a recording what a window does; close it."""
    replay = Replay(path, ManualClock(START))
    try:
        start, end = replay.span()
        for metric in ("questions", "qps"):
            for server in replay.servers():
                if metric == "questions" or metric in {m.key for m in replay.catalogue()}:
                    replay.series(server, metric, start, end, 300)
        replay.seek(end)
        replay.snapshot()
        replay.snapshot_at(start)
        replay.events()
        replay.all_events()
    finally:
        replay.close()
    return replay


def said(path: Path) -> str:
    """Return what a recording's events say."""
    replay = Replay(path, ManualClock(START))
    try:
        return " ".join(event.text for event in replay.all_events())
    finally:
        replay.close()


def bomb(size: int) -> bytes:
    """Return a frame of a few kilobytes that says it holds `size` zeros, and does."""
    packer = zstandard.ZstdCompressor(level=3).compressobj(size=size)
    piece = bytes(2**20)
    return b"".join([*(packer.compress(piece) for _ in range(size // 2**20)), packer.flush()])


def block(header: bytes, *frames: bytes) -> bytes:
    head = zstandard.ZstdCompressor().compress(header)
    return struct.pack("<B3xI", 1, len(head)) + head + b"".join(frames)


HUGE = 2**30
FLAT = struct.pack("<4I", 2**32 - 1, 4, 0, 0) + np.array([0, 1, 2, 16], "<u4").tobytes() + bytes(32)
"""A header of four billion rows that all have the same value: 32 GB a column."""


def test_that_the_sound_recording_is_read_whole(sound: Path) -> None:
    replay = Replay(sound, ManualClock(START))
    start, end = replay.span()
    assert (start, end) == (START, START + 19.0)
    assert len(replay.series("db1", "questions", start, end, 300).t) == 20
    assert replay.snapshot_at(end).clusters[0].nodes[0].state.startswith("Synced 1")
    assert len(replay.all_events()) == 20
    replay.close()


@pytest.mark.usefixtures("little")
def test_that_a_block_of_four_billion_rows_is_a_gap(ruined: Callable[..., Path]) -> None:
    path = ruined(lambda c: c.execute("UPDATE block SET data = ?", (block(FLAT),)))
    use(path)


@pytest.mark.usefixtures("little")
def test_that_a_block_whose_header_unpacks_to_a_gigabyte_is_a_gap(ruined: Callable[..., Path]) -> None:
    frame = bomb(HUGE)
    data = struct.pack("<B3xI", 1, len(frame)) + frame
    use(ruined(lambda c: c.execute("UPDATE block SET data = ?", (data,))))


@pytest.mark.usefixtures("little")
def test_that_a_frame_larger_than_its_columns_is_not_unpacked() -> None:
    frame = bomb(HUGE)
    header = struct.pack("<4I", 10, 0, 1, 1) + struct.pack("<IBBHqBI", 16, 0, 0, 0, 0, 1, len(frame))
    with pytest.raises(CodecError, match="larger than it may be"):
        Block(block(header, frame)).column(16)


@pytest.mark.usefixtures("little")
def test_that_a_snapshot_that_unpacks_to_a_gigabyte_is_told_in_the_picture(ruined: Callable[..., Path]) -> None:
    path = ruined(lambda c: c.execute("UPDATE snapshot SET data = ?, base = NULL", (bomb(HUGE),)))
    replay = Replay(path, ManualClock(START))
    assert [p.part for p in replay.snapshot().problems] == ["recording"]
    replay.close()


@pytest.mark.usefixtures("little")
def test_that_aggregates_that_unpack_to_a_gigabyte_are_damaged() -> None:
    for unpack in (rollup.unpack_day, rollup.unpack_still):
        with pytest.raises(CodecError):
            unpack(bomb(HUGE))


@pytest.mark.usefixtures("little")
def test_that_bins_of_very_different_fullness_take_no_square_of_memory() -> None:
    crowded, sparse = np.full(100_000, 0.5), np.arange(1, 100_001, dtype=float) * 60.0
    t = np.concatenate((crowded, sparse))
    bins, found = rollup.by_step(t, np.arange(len(t), dtype=float)[None, :], 60.0)
    assert len(bins) == 100_001
    assert (found[0, 0, 0], found[0, 2, 0], found[0, 1, -1]) == (0.0, 99_999.0, 199_999.0)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 20 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'x' AS name FROM n"
FOREIGN: dict[str, tuple[str, ...]] = {
    "a view in place of a table": ("DROP TABLE server", f"CREATE VIEW server AS {ENDLESS}"),
    "a further view": ("CREATE VIEW more AS SELECT 1",),
    "a further table": ("CREATE TABLE more (a)",),
    "a trigger": ("CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM block; END",),
    "a virtual table": ("DROP TABLE epoch", "CREATE VIRTUAL TABLE epoch USING fts5(id, text)"),
    "an index over an expression": ("CREATE INDEX more ON block (abs(start))",),
    "a table with another column": ("ALTER TABLE server ADD COLUMN more TEXT DEFAULT ('x')",),
    "no table of samples": ("DROP TABLE block",),
    "no index of samples": ("DROP INDEX block_place",),
}


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("case", FOREIGN)
def test_that_a_file_with_parts_that_no_history_has_is_refused(ruined: Callable[..., Path], case: str) -> None:
    def ruin(connection: sqlite3.Connection) -> None:
        for statement in FOREIGN[case]:
            connection.execute(statement)

    with pytest.raises(UserError, match=' does not have the structure of a history file: "') as caught:
        use(ruined(ruin))
    assert caught.value.try_


def test_that_a_table_that_lies_upon_another_is_refused(ruined: Callable[..., Path]) -> None:
    def ruin(connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'block') "
            "WHERE name = 'server'"
        )

    with pytest.raises(UserError, match="damaged"):
        use(ruined(ruin, schema=True))


MOMENTS = {"1970 is far": 0.0, "beyond calendars": 1e300, "endless": 9e999, "before": -1e18, "no number": "soon"}


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("at", MOMENTS.values(), ids=MOMENTS)
@pytest.mark.parametrize("place", ["block.start", "block.stop", "snapshot.at", "event.at"])
def test_that_moments_that_no_clock_shows_are_refused_or_left_out(
    ruined: Callable[..., Path], place: str, at: object
) -> None:
    table, column = place.split(".")
    path = ruined(lambda c: c.execute(f"UPDATE {table} SET {column} = ?", (at,)))
    with contextlib.suppress(UserError):
        use(path)


def test_that_an_event_of_no_calendar_is_left_out(ruined: Callable[..., Path]) -> None:
    path = ruined(lambda c: c.execute("UPDATE event SET data = replace(data, '\"at\":18', '\"at\":1e18') WHERE id = 1"))
    replay = Replay(path, ManualClock(START))
    assert len(replay.all_events()) == 19
    replay.close()


@pytest.mark.usefixtures("little")
def test_that_json_nested_without_end_and_words_without_end_are_told(ruined: Callable[..., Path]) -> None:
    def packed(text: bytes) -> bytes:
        return zstandard.ZstdCompressor().compress(text)

    deep = b'{"at":1,"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    long = b'{"at":1,"problems":[{"part":"x","sentence":"' + b"x" * 20_000 + b'"}]}'
    many = b'{"at":1,"problems":[' + b",".join([b'{"part":"x","sentence":"y"}'] * 3_000) + b"]}"
    for text in (deep, long, many):
        with pytest.raises(UserError):
            snapshots.unpack(packed(text), None)
        assert snapshots.unpack(packed(b'{"at":1}'), None).at == 1
    path = ruined(lambda c: c.execute("UPDATE event SET data = ?", (deep.decode(),)))
    use(path)


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("table", ["server", "metric"])
def test_that_names_too_long_or_too_many_are_left_out_and_told(ruined: Callable[..., Path], table: str) -> None:
    column = {"server": "name", "metric": "key"}[table]
    long = ruined(lambda c: c.execute(f"INSERT INTO {table} (id, {column}) VALUES (99, ?)", ("x" * 5_000,)))
    assert " contains one name more than can be read at once: its values are left out." in said(long)
    many = ruined(
        lambda c: c.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 110101) "
            f"INSERT INTO {table} (id, {column}) SELECT i, i FROM n"
        )
    )
    assert " names more than can be read at once: their values are left out." in said(many)


@pytest.mark.parametrize("value", ["text", 7, 1.5])
@pytest.mark.parametrize("table", ["block", "snapshot", "event"])
def test_that_a_value_of_another_type_is_damage(ruined: Callable[..., Path], table: str, value: object) -> None:
    use(ruined(lambda c: c.execute(f"UPDATE {table} SET data = ?", (value,))))


@pytest.mark.usefixtures("little")
def test_that_a_journal_of_wide_rows_without_end_is_left_out(ruined: Callable[..., Path]) -> None:
    ids = np.arange(16, 2_016, dtype="<u4").tobytes()

    def ruin(connection: sqlite3.Connection) -> None:
        insert = "INSERT INTO journal (server, chunk, at, shift, epoch, whole, data) VALUES (16, 9, ?, 0, 16, ?, ?)"
        connection.execute(insert, (START, 1, ids + bytes(16_000)))
        connection.executemany(insert, [(START + i / 1e3, 0, b"") for i in range(20_000)])

    use(ruined(ruin))


def test_that_a_question_that_takes_too_long_is_stopped(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "QUESTION_S", 0.2)
    connection = guarded.connect_guarded(sound, 1_000)
    begun = time.monotonic()
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute("SELECT count(*) FROM " + ", ".join(f"snapshot s{i}" for i in range(12))).fetchone()
    assert time.monotonic() - begun < 5.0
    connection.close()


@pytest.mark.parametrize(
    "statement",
    ["ATTACH '/tmp/x' AS x", "SELECT load_extension('x')", "PRAGMA writable_schema=ON", "DELETE FROM block", ENDLESS],
)
def test_that_a_reader_can_ask_for_rows_and_nothing_else(sound: Path, statement: str) -> None:
    connection = guarded.connect_guarded(sound, 1_000)
    with pytest.raises(sqlite3.DatabaseError):
        connection.execute(statement)
    connection.close()


def test_that_random_damage_never_ends_in_anything_but_a_sentence(sound: Path, tmp_path: Path) -> None:
    whole, chance = sound.read_bytes(), random.Random(6)
    path = tmp_path / "sent.pilothouse"
    for _ in range(250):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 4, 40))):
            data[chance.randrange(100, len(data))] = chance.randrange(256)
        path.write_bytes(data)
        with contextlib.suppress(UserError):
            use(path)


def test_that_random_damage_to_a_block_is_a_codec_error(sound: Path) -> None:
    with sqlite3.connect(sound) as connection:
        (whole,) = connection.execute("SELECT data FROM block").fetchone()
    connection.close()
    unpacker, chance = zstandard.ZstdDecompressor(), random.Random(7)
    (length,) = struct.unpack_from("<I", whole, 4)
    header, rest = unpacker.decompress(whole[8 : 8 + length]), whole[8 + length :]
    for _ in range(1_000):
        changed = bytearray(header)
        for _ in range(chance.choice((1, 2, 8))):
            changed[chance.randrange(len(changed))] = chance.choice((0, 1, 255, chance.randrange(256)))
        try:
            Block(block(bytes(changed), rest)).table()
        except CodecError:
            continue


def test_that_a_store_of_ones_own_is_read_as_before(tmp_path: Path) -> None:
    store = HistoryStore.open(tmp_path / "h.sqlite", clock=ManualClock(START), background=False)
    store.append(Sample("db1", START, 1.0, {"questions": 1.0}))
    store.flush()
    reader = HistoryStore.open(tmp_path / "h.sqlite", read_only=True)
    assert reader.range() == (START, START)
    reader.close()
    store.close()


def test_that_controls_and_directions_in_a_recording_are_seen(ruined: Callable[..., Path]) -> None:
    name = "db1\x1b[2J\u202egpj"

    def ruin(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE server SET name = ?", (name,))
        connection.execute("UPDATE meta SET value = ? WHERE key = 'title'", (name,))
        for told in ("a\\u001b[2J", "a\u202eb", "a\\\\u001b", "a\\rb"):
            event = f'{{"at":{START},"kind":"note","text":"{told}"}}'
            connection.execute("INSERT INTO event (at, spans, key, data) VALUES (?, 0, '', ?)", (START, event))
        picture = f'{{"at":{START},"problems":[{{"part":"x","sentence":"a\\u202eb\\u001b"}}]}}'.encode()
        data = zstandard.ZstdCompressor().compress(picture)
        connection.execute("UPDATE snapshot SET data = ?, base = NULL", (data,))

    replay = Replay(ruined(ruin), ManualClock(START))
    assert replay.servers() == ("db1\ufffd[2J\ufffdgpj",)
    assert replay.title == "db1\ufffd[2J\ufffdgpj"
    texts = {event.text for event in replay.all_events()}
    assert texts == {"seen", "a\ufffd[2J", "a\ufffdb", "a\\u001b"}
    assert replay.snapshot().problems[0].sentence == "a\ufffdb\ufffd"
    replay.close()
