"""The bundle's bill of materials: CycloneDX's own tool lists the Python packages, dpkg tells the rest."""

from __future__ import annotations

import json
import platform
import sys
from datetime import UTC, datetime
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from boot.environment import without
from boot.places import LOCK, say
from pack.made import NAME, Made, call, epoch
from pack.runtime import needed
from pack.system_libraries import system_packages


def write(made: Made) -> None:
    """Write it: components with versions, hashes of what the lock allows, and package URLs."""
    names = set(needed())
    text = (made.tree / LOCK.name).read_text(encoding="utf-8")
    locked = {line.split("==", 1)[0].strip() for line in text.splitlines() if line[:1].isalnum()}
    chosen = made.work / "runtime.txt"
    chosen.write_text(without(text, tuple(locked - names)), encoding="utf-8")
    words = [
        "requirements",
        chosen,
        "--pyproject",
        made.tree / "pyproject.toml",
        "--output-reproducible",
        "--of",
        "JSON",
    ]
    bom = json.loads(call([sys.executable, "-m", "cyclonedx_py", *words], made.work))
    bom["components"] = [*bom.get("components", []), _python(), *_system(made)]
    bom["metadata"]["timestamp"] = datetime.fromtimestamp(epoch(), UTC).isoformat()
    # The same bundle has the same number: what differs is another bundle.
    bom["serialNumber"] = uuid5(NAMESPACE_URL, f"{NAME}:{made.commit}:{platform.machine()}").urn
    made.sbom.write_text(json.dumps(bom, indent=1, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
    say(f"the bill of materials names {len(bom['components'])} components")


def _python() -> dict[str, object]:
    version = platform.python_version()
    return {
        "type": "application", "bom-ref": "python", "name": "python", "version": version,
        "licenses": [{"license": {"id": "PSF-2.0"}}], "purl": f"pkg:generic/python@{version}",
    }  # fmt: skip


def _system(made: Made) -> list[dict[str, object]]:
    return [
        {
            "type": "library", "bom-ref": f"deb:{one.name}", "name": one.name, "version": one.version,
            "purl": f"pkg:deb/debian/{one.name}@{quote(one.version, safe='')}",
            "properties": [{"name": "pilothouse:file", "value": file} for file in one.files],
        }
        for one in system_packages(made)
    ]  # fmt: skip
