"""Binary logs for the programs that read them: real text of mariadb-binlog in files, and a stand-in that prints it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.unit.recorded.histories_recorded import FOLDER

TEXT = FOLDER / "lines-of-clients.binlog"
EMPTY = "# at 256\n#261122 10:48:40 server id 41  end_log_pos 285 CRC32 0x860c6436 \tGtid list []\n"
"""A file without a transaction, of fewer bytes than the end of its last event: read to its end."""
BROKEN = "# broken\n"
"""A line at which the stand-in ends with a failure, as mariadb-binlog does at an event that it can't read."""
_READER = r"""#!/bin/bash
at=4
for word in "$@"; do case $word in --start-position=*) at=${word#*=};; -*) ;; *) files+=("$word");; esac; done
awk -v at="$at" '/^# broken$/ { exit 1 } /^# at [0-9]+$/ { on = NR != FNR || $3 + 0 >= at + 0 } on' "${files[@]}"
"""


def a_binary_log(folder: Path, *texts: str) -> Path:
    """Return the index of a binary log with these texts in its files, oldest first."""
    reader = folder / "bin" / "mariadb-binlog"
    reader.parent.mkdir()
    reader.write_text(_READER)
    reader.chmod(0o755)
    names = [f"binlog.{number:06}" for number in range(1, len(texts) + 1)]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(text)
    (folder / "binlog.index").write_text("".join(f"./{name}\n" for name in names))
    return folder / "binlog.index"


def run(program: str, index: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program as on a host; a FIFO that it opened would hold it up."""
    path = f"{index.parent / 'bin'}:{os.environ['PATH']}"
    argv = ["bash", "-c", program, "pilothouse", *words]
    env = {**os.environ, "PATH": path}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=20.0)
