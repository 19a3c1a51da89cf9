"""The import contracts can fail: one forbidden import each is planted into a copy of the house, and must be found."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "widgets", "services", "resources")

# file to plant into: (import planted, start of the name of the contract that must break)
TRESPASSES = {
    "services/facts/planted_qt.py": ("import PySide6.QtCore", "No Qt below the window"),
    "services/facts/planted_plot.py": ("import pyqtgraph", "No Qt below the window"),
    "services/facts/planted_floor.py": ("import widgets.common", "The floors of the house"),
    "widgets/common/planted_app.py": ("import app", "The floors of the house"),
    "widgets/charts/planted_session.py": ("import services.connections", "Widgets reach services only"),
    "widgets/charts/planted_topology.py": ("import widgets.topology", "One widgets feature never imports"),
    "widgets/charts/planted_thread.py": ("import threading", "Widgets open no connection"),
    "services/inventory/planted_up.py": ("import services.sampling", "Inside services arrows go one way"),
    "services/history/planted_inventory.py": ("import services.inventory", "The history knows values only"),
    "services/procedures/planted_road.py": ("import services.connections.operator.session", "The changing road"),
    "services/procedures/plan/planted_back.py": ("import services.procedures.engine", "Inside procedures arrows go"),
    "services/procedures/catalogue/planted_look.py": ("import services.procedures.verify", "The catalogue sees plans"),
    "services/procedures/catalogue/galera/sst_tuning/planted_other.py": (
        "import services.procedures.catalogue.galera.add_node.procedure",
        "No procedure imports another",
    ),
    "services/procedures/catalogue/mongodb/shared/planted_one.py": (
        "import services.procedures.catalogue.mongodb.config_servers.party",
        "No procedure imports another",
    ),
    "services/facts/planted_driver.py": ("import paramiko", "paramiko and the database drivers"),
    "services/sampling/planted_sql.py": ("import sqlalchemy", "SQLAlchemy only"),
    "services/inventory/planted_keyring.py": ("import keyring", "keyring only"),
}
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]


@pytest.fixture(scope="module")
def verdict(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Check a copy of the house with all trespasses in it, once; return what the linter printed, unwrapped."""
    house = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "pyproject.toml", house)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, house / package, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
    for path, (line, _) in TRESPASSES.items():
        (house / path).write_text(f"{line}\n", encoding="utf-8")
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=house, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done.stdout + done.stderr
    return re.sub(r"\s+", " ", done.stdout)


@pytest.mark.parametrize(("path", "trespass"), TRESPASSES.items())
def test_that_a_forbidden_import_breaks_its_contract_and_is_named(
    verdict: str, path: str, trespass: tuple[str, str]
) -> None:
    _, contract = trespass
    full_name = next(entry["name"] for entry in CONTRACTS if entry["name"].startswith(contract))
    assert f"{full_name} BROKEN" in verdict
    assert path.removesuffix(".py").replace("/", ".") in verdict


def test_that_every_contract_has_a_trespass_that_breaks_it() -> None:
    tried = {start for _, start in TRESPASSES.values()}
    untried = [entry["name"] for entry in CONTRACTS if not any(entry["name"].startswith(start) for start in tried)]
    assert untried == []


def test_that_importing_every_service_loads_no_part_of_qt() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((ROOT / "services").rglob("*.py"))
        if path.name != "__main__.py"
    ]
    program = (
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & {'PySide6', 'shiboken6', 'pyqtgraph'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
