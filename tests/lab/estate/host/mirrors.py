"""The package mirror for base images: the one this machine's own apt already uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_APT = Path("/etc/apt")


def codename(os_release: Path = Path("/etc/os-release")) -> str:
    """Release code name of this machine ("bookworm"), empty when the system does not say."""
    found = re.search(r"^VERSION_CODENAME=\"?([a-z]+)", os_release.read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else ""


def _deb822(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """(uri, suites, components) of each deb822 stanza (man sources.list(5))."""
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if not line.startswith("#")]
        fields = {k.strip().lower(): v.split() for k, _, v in (line.partition(":") for line in lines if ":" in line)}
        if "deb" in fields.get("types", []) and fields.get("enabled", ["yes"])[0] != "no":
            for uri in fields.get("uris", []):
                yield uri, fields.get("suites", []), fields.get("components", [])


def _one_line(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """(uri, suites, components) of each one-line entry (man sources.list(5))."""
    for line in text.splitlines():
        found = re.match(r"\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+(.*)", line)
        if found:
            yield found.group(1), [found.group(2)], found.group(3).split()


def debian_mirror(apt: Path = _APT, release: str | None = None) -> str | None:
    """URI from which this machine takes its own release's `main`, or None to leave the choice to debootstrap."""
    wanted = codename() if release is None else release
    folder = apt / "sources.list.d"
    entries: list[tuple[str, list[str], list[str]]] = []
    for path in [apt / "sources.list", *sorted(folder.glob("*.list"))]:
        if path.is_file():
            entries += _one_line(path.read_text(encoding="utf-8"))
    for path in sorted(folder.glob("*.sources")):
        entries += _deb822(path.read_text(encoding="utf-8"))
    for uri, suites, components in entries:
        if wanted and wanted in suites and "main" in components and uri.startswith(("http", "file", "copy")):
            return uri
    return None
