"""What is kept between starts: a small private file that may be missing, damaged or hostile."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import platformdirs
import pytest

from app.window.settings.keeper import Keeper, keeper_for, last_estate
from services.workstation.data_place import usual_folder
from services.workstation.preferences import FILE, MOST_BYTES, Preferences, read_preferences, write_preferences

EVERYTHING = Preferences(
    theme="dark", text_percent=150, width=1600, height=900, maximised=True, page="charts", tree_width=300,
    inspector_width=400, tree_hidden=True, inspector_hidden=True, inventory="/estates/own.toml", language="de",
    interval_s=2, keep_days=30, most_gib=5, limits={"drain_limit": "5 min"},
)  # fmt: skip


def test_that_everything_is_read_as_it_was_written_and_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE
    assert read_preferences(path) == Preferences()
    assert write_preferences(path, EVERYTHING)
    assert read_preferences(path) == EVERYTHING
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.expected_log("WARNING", "cannot be used")
@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"\xff\xfe\x00", b"[1, 2]", b"7", b"null", b"\x00" * 100, b"[" * 30_000,
        b"{" + b" " * MOST_BYTES + b"}", b'{"theme": ' + b'{"a":' * 9_000,
    ],
)  # fmt: skip
def test_that_a_damaged_or_hostile_file_is_ignored_with_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / FILE
    path.write_bytes(content)
    assert read_preferences(path) == Preferences()


@pytest.mark.expected_log("WARNING", "cannot be used")
def test_that_a_folder_in_its_place_is_no_settings_file(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    assert read_preferences(tmp_path / FILE) == Preferences()


@pytest.mark.expected_log("WARNING", "are not used")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "pink"), ("theme", ["dark"]), ("text_percent", 5000), ("text_percent", "150"), ("text_percent", True),
        ("width", -1), ("width", 10**400), ("maximised", 1), ("page", 3), ("page", "x\x1b[2J"), ("page", "x" * 5000),
        ("interval_s", 60), ("interval_s", 1.5), ("keep_days", 0), ("most_gib", 10**9), ("inventory", None),
        ("limits", {"drain_limit": 5}), ("limits", {str(n): "1 s" for n in range(100)}), ("limits", "all"),
    ],
)  # fmt: skip
def test_that_a_value_that_does_not_fit_is_left_out_and_the_rest_is_taken(
    tmp_path: Path, name: str, value: object
) -> None:
    path = tmp_path / FILE
    path.write_text(json.dumps({"tree_width": 300, "unknown": {"deep": []}, name: value}))
    assert read_preferences(path) == Preferences(tree_width=300)


@pytest.mark.expected_log("WARNING", "cannot be written")
def test_that_a_folder_that_takes_nothing_is_said_once(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path / "nowhere" / FILE)
    keeper.change(theme="dark")
    keeper.change(theme="light")
    assert keeper.now.theme == "light"


def test_that_a_demo_and_a_run_for_pictures_keep_nothing(tmp_path: Path) -> None:
    for options, kept in ((Namespace(data=tmp_path), False), (Namespace(data=tmp_path, screenshots=tmp_path), True)):
        write_preferences(tmp_path / FILE, EVERYTHING)
        keeper = keeper_for(options, kept=kept)
        assert keeper.now == Preferences()
        keeper.change(theme="light")
        assert read_preferences(tmp_path / FILE) == EVERYTHING


@pytest.mark.expected_log("WARNING", ", which was open last, no longer exists.")
def test_that_the_estate_of_last_time_is_opened_where_none_is_named_and_it_is_still_there(tmp_path: Path) -> None:
    last = tmp_path / "own.toml"
    keeper = Keeper()
    keeper.change(inventory=str(last))
    assert last_estate(Namespace(), keeper) is None  # and says so in the log
    last.write_text("")
    assert last_estate(Namespace(), keeper) == last
    assert last_estate(Namespace(inventory=tmp_path / "other.toml"), keeper) is None


@pytest.mark.parametrize("home", ["", "  ", "/somewhere/data"])
def test_that_the_data_folder_is_that_of_the_platform(monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", home)
    assert usual_folder() == Path(platformdirs.user_data_dir("pilothouse", appauthor=False))


def test_that_nothing_heavy_is_imported_to_read_the_settings_before_the_first_paint() -> None:
    modules = "sys, app.window.settings.keeper, app.places"
    code = f"import {modules}; print({{'platformdirs', 'msgspec', 'secrets'}} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
