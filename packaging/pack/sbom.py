"""The bundle's bill of materials: CycloneDX's own tool lists the Python packages, their metadata and dpkg the rest.

A hash is that of a file as it lies in the bundle. The lock's hashes are of wheels for every platform, and say nothing
about this one.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from packaging.utils import canonicalize_name

from boot.environment import without
from boot.places import LOCK, say
from pack.made import NAME, Made, call, epoch
from pack.runtime import needed, wanted_by
from pack.system_libraries import origins, system_packages

Component = dict[str, Any]
ROOT_REF = "root-component"


def write(made: Made) -> None:
    """Write it: components with versions, package URLs, licences and the hashes of their libraries."""
    bom = _listed(made)
    files = _files_of_owners(made)
    pythons = [_completed(one, files) for one in bom["components"] if _is_bundled(one)]
    bom["components"] = [*pythons, _python(files), _starter(), *_system(made)]
    bom["dependencies"] = _dependencies(bom["components"])
    bom["metadata"]["timestamp"] = datetime.fromtimestamp(epoch(), UTC).isoformat()
    # The same bundle has the same number: what differs is another bundle.
    bom["serialNumber"] = uuid5(NAMESPACE_URL, f"{NAME}:{made.commit}:{platform.machine()}").urn
    made.sbom.write_text(json.dumps(bom, indent=1, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
    say(f"the bill of materials names {len(bom['components'])} components")


def _listed(made: Made) -> Component:
    text = (made.tree / LOCK.name).read_text(encoding="utf-8")
    locked = {line.split("==", 1)[0].strip() for line in text.splitlines() if line[:1].isalnum()}
    chosen = made.work / "runtime.txt"
    chosen.write_text(without(text, tuple(locked - set(needed()))), encoding="utf-8")
    words = [
        "requirements",
        chosen,
        "--pyproject",
        made.tree / "pyproject.toml",
        "--output-reproducible",
        "--of",
        "JSON",
    ]
    listed: Component = json.loads(call([sys.executable, "-m", "cyclonedx_py", *words], made.work))
    return listed


def _is_bundled(one: Component) -> bool:
    """Return whether it is this platform's: the lock has a version for each Python that it serves."""
    return bool(needed().get(canonicalize_name(one["name"])) == one["version"])


def _completed(one: Component, files: dict[str, list[Component]]) -> Component:
    name = canonicalize_name(one["name"])
    told = distribution(name).metadata.json
    parts = [*files.get(name, ()), *_declared_parts(name)]
    completed = {key: one[key] for key in ("name", "purl", "type", "version")}
    completed["bom-ref"] = one["purl"]
    if expression := told.get("license_expression"):
        completed["licenses"] = [{"expression": expression, "acknowledgement": "declared"}]
    elif (licence := str(told.get("license", ""))) and "\n" not in licence:
        completed["licenses"] = [{"license": {"name": licence, "acknowledgement": "declared"}}]
    return completed | ({"components": parts} if parts else {})


def _declared_parts(name: str) -> list[Component]:
    """Return the components that a wheel's own bills name (PEP 770): OpenSSL within cryptography, crates."""
    found: list[Component] = []
    for path in distribution(name).files or ():
        if path.parent.name == "sboms" and path.suffix == ".json":
            bill = json.loads(path.read_text(encoding="utf-8"))
            found += [
                {**one, "bom-ref": f"{name}:{path.name}:{number}"} for number, one in enumerate(bill["components"])
            ]
    return found


def _files_of_owners(made: Made) -> dict[str, list[Component]]:
    """Return the libraries in the bundle by the distribution that brought them; "" is Python's own."""
    owners = {
        os.path.realpath(str(path.locate())): name for name in needed() for path in distribution(name).files or ()
    }
    found: dict[str, list[Component]] = {}
    folder = made.bundle / "_internal"
    for place, source in origins(made).items():
        found.setdefault(owners.get(os.path.realpath(source), ""), []).append(_file(folder / place, place))
    return found


def _file(path: Path, place: str) -> Component:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    name = Path(place).as_posix()
    return {"type": "file", "bom-ref": f"file:{name}", "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}


def _python(files: dict[str, list[Component]]) -> Component:
    version = platform.python_version()
    return {
        "type": "application", "bom-ref": "python", "name": "python", "version": version,
        "licenses": [{"license": {"id": "PSF-2.0"}}], "purl": f"pkg:generic/python@{version}",
        "components": [one for one in files.get("", ()) if "python" in one["name"]],
    }  # fmt: skip


def _starter() -> Component:
    version = distribution("pyinstaller").version
    return {
        "type": "library", "bom-ref": "starter", "name": "pyinstaller-bootloader", "version": version,
        "purl": f"pkg:pypi/pyinstaller@{version}#bootloader",
        "licenses": [{"expression": "GPL-2.0-or-later WITH Bootloader-exception"}],
    }  # fmt: skip


def _system(made: Made) -> list[Component]:
    folder = made.bundle / "_internal"
    packages = system_packages(made)
    system = platform.freedesktop_os_release()["ID"] if packages else ""
    return [
        {
            "type": "library", "bom-ref": f"deb:{one.name}", "name": one.name, "version": one.version,
            "purl": f"pkg:deb/{system}/{one.name}@{quote(one.version, safe='')}",
            "components": [_file(folder / file, file) for file in one.files],
        }
        for one in packages
    ]  # fmt: skip


def _dependencies(components: list[Component]) -> list[Component]:
    refs: dict[str, str] = {
        canonicalize_name(one["name"]): one["bom-ref"] for one in components if "pypi/" in one["bom-ref"]
    }
    rest = sorted(one["bom-ref"] for one in components if one["bom-ref"] not in refs.values())
    graph: list[Component] = [
        {"ref": refs.get(name, ROOT_REF), "dependsOn": [refs[one] for one in wanted if one in refs]}
        for name, wanted in sorted(wanted_by().items())
    ]
    next(one for one in graph if one["ref"] == ROOT_REF)["dependsOn"] += rest
    return [*graph, *({"ref": ref} for ref in rest)]
