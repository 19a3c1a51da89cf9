"""Makes the second demo on the lab: `python -m tests.lab.make_demo_conversion [FILE]` (as root, about four minutes).

Real MongoDB of 3.2 (lab.md), recorded by the program's own `record` command while `mongo-config-rs` runs the rolling
way beside it and both mongos are written to. The steps of the run are in the recording: both share a data folder.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.lab.estate.estate import Estate
from tests.lab.estate.locks import lab_lock
from tests.lab.make_demo import ROOT
from tests.lab.mongodb.procedures.conversion import load

DEFAULT = ROOT / "resources" / "demo" / "conversion.pilothouse"
LENGTH_S, CALM_S = 170, 20.0
_RUN = ("run", "mongo-config-rs", "--input", "new=n1,n2", "--input", "name=csrs", "--input", "no_ddl=yes")
_SAID = ("--input", "no_others=yes", "--yes", "--confirm", "c1")


def make(target: Path) -> int:
    """Record the conversion into `target`; return the first exit code that is not 0."""
    with lab_lock("session-mongo-sccc"):
        estate = Estate("mongo-sccc")
        estate.down()
        estate.up()
        try:
            return _make(estate, target)
        finally:
            estate.down()


def _make(estate: Estate, target: Path) -> int:
    unfinished = target.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        inventory, environment = estate.client_dir / "inventory-all.toml", {**os.environ, **estate.environment()}

        def console(*words: str) -> list[str]:
            own = ("--inventory", str(inventory), "--data", folder, "--language", "en")
            return [sys.executable, "-m", "app", words[0], *own, *words[1:]]

        with load(estate):
            recorder = subprocess.Popen(
                console("record", str(unfinished), "--for", str(LENGTH_S)), cwd=ROOT, env=environment
            )
            try:
                time.sleep(CALM_S)
                ran = subprocess.run(console(*_RUN, *_SAID), cwd=ROOT, env=environment, check=False, timeout=LENGTH_S)
                code = recorder.wait(timeout=LENGTH_S + 60)
            finally:
                if recorder.poll() is None:
                    recorder.kill()
                    recorder.wait(timeout=30)
    if ran.returncode == 0 and code == 0:
        unfinished.replace(target)
    return ran.returncode or code


def main() -> int:
    """Parse the one argument and make the recording."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT)
    return make(parser.parse_args().file)


if __name__ == "__main__":
    sys.exit(main())
