"""Build the kinds that the verb `package` asks for, each from the one before it, and write their checksums."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from pathlib import Path

from boot.places import PACKAGE_WORK, BootError, say
from pack import bundle, installers, licences, menu, sbom, wheel
from pack.made import Made

SUMS = "SHA256SUMS"


def main() -> int:
    """Return 0 when every kind was made."""
    parser = argparse.ArgumentParser(prog="pack")
    parser.add_argument("--commit", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("kinds", nargs="+", choices=("wheel", "bundle", "installers"))
    options = parser.parse_args()
    made = Made(PACKAGE_WORK, options.out, options.commit)
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        wheel.build(made)
        if "bundle" in options.kinds:
            menu.build(made)
            bundle.build(made)
            licences.write(made)
            sbom.write(made)
        if "installers" in options.kinds:
            installers.build(made)
            _publish(made)
    except BootError as error:
        say(str(error))
        return 2
    _sums(options.out)
    return 0


def _publish(made: Made) -> None:
    """Lay what tells of the bundle beside the packages."""
    for path in (made.licences, made.sbom):
        shutil.copyfile(path, made.out / f"{made.name}-{path.name}")


def _sums(folder: Path) -> None:
    """Write the checksums of all that lies in the folder, in the format that `sha256sum --check` reads."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")
    for path in files:
        say(f"{path.stat().st_size / 1e6:8.1f} MB  {path}")


if __name__ == "__main__":
    sys.exit(main())
