"""What a start of the window loads: nothing for a server that nobody has, nothing that steers for a recording.

Each start is a process of its own. It ends when the window says that it is ready; of a recording, when its nodes are
drawn too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
_START = """
import os, sys
from app.plain_imports import import_qt

import_qt()
from PySide6.QtCore import QTimer
from app.window.session import WindowSession

load = WindowSession.load


def tell():
    import builtins, linecache
    read = [f"read:{name}" for name in linecache.cache if "/services/" in name or "/widgets/" in name]
    sys.stdout.write(" ".join((*sys.modules, *read, f"import:{builtins.__import__.__name__}")) + "\\n")
    sys.stdout.flush()
    os._exit(0)


def look(session):
    recording = session.controller is not None and not session.controller.source.is_live
    drawn = session.window.topology.canvas.placement.nodes
    tell() if drawn or not recording else QTimer.singleShot(20, lambda: look(session))


def loading(self):
    self.ready.connect(lambda: look(self))
    load(self)


WindowSession.load = loading
from app.__main__ import main

main(sys.argv[1:])
"""
_NOT_FOR_A_FRAME = frozenset({"numpy", "pyqtgraph", "msgspec", "sqlalchemy", "paramiko", "cryptography", "keyring"})
_DRIVERS = frozenset({"pymysql", "MySQLdb", "pymongo", "bson"})
_ROADS = frozenset({"app.compose", "services.procedures", "services.history.store", "services.sampling.watcher"})
_BEFORE_PAINT = """
import os, sys
from app.__main__ import main
from app.plain_imports import import_qt

import_qt()
from widgets.frame.first_frame import FirstFrame

paint = FirstFrame.paintEvent


def painted(self, event):
    paint(self, event)
    sys.stdout.write(" ".join(sys.modules) + "\\n")
    sys.stdout.flush()
    os._exit(0)


FirstFrame.paintEvent = painted
main(sys.argv[1:])
"""
_COMMAND = """
import builtins, sys, types
from app.__main__ import main


def told(*_, **__):
    print(*sys.modules, f"import:{builtins.__import__.__name__}")
    return 0


sys.modules["app.window.window_run"] = types.SimpleNamespace(run_window=told)
main(sys.argv[1:])
"""
_MONGODB = frozenset(
    {
        "bson",
        "services.connections.mongo.link",
        "services.connections.mongo.wire",
        "services.discovery.families.mongodb.family",
        "services.discovery.looks.probe_mongodb",
        "services.facts.mongodb.reading",
        "services.sampling.mongo_poll",
    }
)


def loaded(*arguments: str, start: str = _START) -> set[str]:
    """Return the modules of a start with these arguments, when it is ready; `read:` marks a source that was read."""
    ran = subprocess.run(
        [sys.executable, "-c", start, *arguments],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return set(ran.stdout.split())


def families(modules: set[str]) -> set[str]:
    """Return the families among the modules that judge, not only have a name."""
    return {name.split(".")[3] for name in modules if name.startswith("services.discovery.families.")} & {
        name.split(".")[3] for name in modules if name.endswith(".family")
    }


@pytest.mark.parametrize("written", ["", "version = 1\n"])
def test_that_a_window_without_hosts_loads_nothing_that_watches_draws_curves_or_steers(
    tmp_path: Path, written: str
) -> None:
    inventory = tmp_path / "inventory.toml"
    if written:
        inventory.write_text(written)
    modules = loaded("--data", str(tmp_path / "data"), "--inventory", str(inventory))
    assert "widgets.inventory.first_run" in modules, "the window teaches"
    assert modules & (_NOT_FOR_A_FRAME | _DRIVERS | _ROADS | _MONGODB) == set()
    assert families(modules) == set()
    assert "widgets.inventory.connection_dialog" not in modules


def test_that_a_host_without_ssh_and_mongodb_loads_neither(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory.toml"
    inventory.write_text(
        'version = 1\n[[host]]\nname = "db1"\naddress = "127.0.0.1"\n[host.sql]\nuser = "u"\nport = 1\ntls = "off"\n'
    )
    modules = loaded("--data", str(tmp_path / "data"), "--inventory", str(inventory))
    assert "pymysql" in modules
    assert modules & (_MONGODB | {"paramiko", "pymongo", "keyring", "pyqtgraph"}) == set()
    assert families(modules) & {"galera", "group_replication", "mongodb"} == set()


def test_that_a_recording_of_galera_is_drawn_without_what_judges_asks_or_steers(tmp_path: Path) -> None:
    modules = loaded("demo", "--data", str(tmp_path / "data"))
    assert "services.sampling.replay" in modules
    assert modules & (_DRIVERS | _MONGODB | {"paramiko", "sqlalchemy", "keyring", "pyqtgraph", "app.compose"}) == set()
    assert not any(name.startswith(("services.procedures.catalogue", "services.procedures.plan")) for name in modules)
    assert families(modules) == set()


def test_that_the_window_imports_without_reading_the_sources_of_what_it_imports(tmp_path: Path) -> None:
    told = loaded("demo", "--data", str(tmp_path / "data"))
    assert [name for name in told if name.startswith("read:")] == []


def test_that_the_first_paint_waits_for_nothing_of_ours_that_it_does_not_show(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory.toml"
    inventory.write_text("version = 1\n")
    modules = loaded("--data", str(tmp_path / "data"), "--inventory", str(inventory), start=_BEFORE_PAINT)
    ours = {name for name in modules if name.startswith(("services.", "widgets."))}
    below = ("services.workstation", "services.history")
    plain = {"boundary", "colors", "errors", "i18n", "visible"}
    assert {name for name in ours if not name.startswith(below)} == {
        *(f"services.{name}" for name in plain), "widgets.frame", "widgets.frame.first_frame"
    }  # fmt: skip
    assert {name for name in ours if name.startswith("services.history.")} == {"services.history.free_memory"}
    assert modules & {"getpass", "termios", "secrets", "json", "dataclasses", "tomllib", "sqlite3"} == set()


@pytest.mark.parametrize("command", [(), ("demo",), ("replay", "some.pilothouse")])
def test_that_each_command_with_a_window_imports_qt_before_it_and_python_as_before(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "some.pilothouse").write_bytes(b"")
    command = tuple(str(tmp_path / word) if "." in word else word for word in command)
    told = loaded(*command, "--data", str(tmp_path / "data"), start=_COMMAND)
    assert "PySide6.QtCore" in told
    assert "import:__feature_import__" not in told, "PySide6's own reads the source of each module"
