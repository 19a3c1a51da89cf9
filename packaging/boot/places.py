"""Where things are, and how this program talks: one line for each thing it does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements.lock"
PEERS = ROOT / "packaging" / "peers.in"
PEERS_LOCK = ROOT / "packaging" / "peers.lock"
TOOLS = ROOT / "packaging" / "package.in"
TOOLS_LOCK = ROOT / "packaging" / "package.lock"
PYPROJECT = ROOT / "pyproject.toml"
PACKAGES = ROOT / "dist"
PACKAGE_WORK = ROOT / "build" / "package"
REPORTS = ROOT / ".out" / "test"
COMPILED = ROOT / ".out" / "compiled"
DEMO_PICTURES = ROOT / ".out" / "demo"
DOCS_PICTURES = ROOT / "resources" / "docs" / "images"
BENCH_PAGE = ROOT / "resources" / "docs" / "benchmarks.md"
LOCALES = ROOT / "resources" / "locale"
TEMPLATE = LOCALES / "pilothouse.pot"
LAB_COMMAND = ROOT / "packaging" / "lab.py"

WINDOWS = os.name == "nt"


class BootError(Exception):
    """What stopped us, as sentences for a person: what happened and what to try."""


def say(text: str) -> None:
    """Tell the person what happens now."""
    print(f"bootstrap: {text}", flush=True)


def in_ci() -> bool:
    """Tell whether this is an automated run, where nothing may be skipped for want of a machine."""
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def is_root() -> bool:
    """Tell whether system packages may be installed; never true on Windows."""
    return not WINDOWS and os.geteuid() == 0


def is_debian() -> bool:
    """Tell Debian and its children by os-release(5)."""
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return False
    pairs = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    names = f"{pairs.get('ID', '')} {pairs.get('ID_LIKE', '')}".replace('"', "").split()
    return "debian" in names


def has_display() -> bool:
    """Tell whether a window could be seen here (macOS and Windows always have their desktop)."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
