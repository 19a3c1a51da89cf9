"""No display: the program is run as a person runs it, in a process of its own, and Qt really finds none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a display")


def started(home: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Start the window with these settings alone: no display but what they name."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "QT_QPA_PLATFORM"}
    }
    given = [sys.executable, "-m", "app", *words, "--data", str(home), "--inventory", str(home / "none.toml")]
    runtime = {"XDG_RUNTIME_DIR": str(home)}  # nobody's compositor is there
    return subprocess.run(
        given, env=environment | runtime | settings, capture_output=True, text=True, timeout=120, check=False
    )


def test_that_without_a_display_the_window_is_a_sentence(tmp_path: Path) -> None:
    ended = started(tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith("The window cannot be opened: there is no display")
    assert "ssh -X" in ended.stderr
    assert "plugin" not in ended.stderr


def test_that_a_display_that_does_not_answer_is_named_to_a_machine(tmp_path: Path) -> None:
    ended = started(tmp_path, "--json", DISPLAY=":9797")
    assert ended.returncode == 2
    document = json.loads(ended.stdout)
    assert document["error"] == "bad-input"
    assert ":9797" in document["sentence"]


def test_that_pictures_need_no_display(tmp_path: Path) -> None:
    ended = started(tmp_path, "demo", "--screenshots", str(tmp_path / "pictures"))
    assert ended.returncode == 0, ended.stderr
    assert list((tmp_path / "pictures").glob("*.png"))


@pytest.mark.parametrize("name", ["QT_QPA_PLATFORM", "QT_QPA_PLATFORM_PLUGIN_PATH"])
def test_that_a_platform_which_qt_does_not_have_is_named_and_not_the_display(tmp_path: Path, name: str) -> None:
    ended = started(tmp_path, **{name: "nowhere"})
    assert ended.returncode == 2
    assert f"{name}=nowhere" in ended.stderr
    assert "there is no display" not in ended.stderr


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="only root becomes a user that nobody knows",
)
def test_that_the_demo_needs_no_home_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    for place in tmp_path.parents[:3]:  # passed through only: what others may write into is no place for other tests
        place.chmod(place.stat().st_mode | 0o011)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    words = ["-m", "app", "demo", "--screenshots", "shots", "--size", "1280x800"]
    program = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", sys.executable, *words]
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(list((tmp_path / "shots").glob("*.png"))) >= 5
