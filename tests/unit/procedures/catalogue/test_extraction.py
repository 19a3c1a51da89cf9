"""What the step that writes a losing side out says of its file: only that side's rows, or all of a log."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from services.procedures.actions import Detached
from services.procedures.catalogue.extraction import EXTRACT, write_out
from tests.unit.procedures.facts_of_three import UUID, down


def test_that_a_file_from_a_known_seqno_on_is_told_as_one_sides() -> None:
    step = write_out(down("n3"), UUID, 15, "Kept for you.")
    assert step.title.startswith("Write what only n3 has, after seqno 15, to ")
    assert step.why == "Kept for you."
    assert isinstance(step.action, Detached)
    assert step.action.command.argv[-2:] == ("15", f"/var/lib/pilothouse/forks/n3-{UUID[:8]}-after-15.sql")


def test_that_a_file_from_a_point_that_is_not_known_is_never_told_as_one_sides() -> None:
    step = write_out(down("n3"), UUID, None, "Kept for you.")
    assert "what only" not in f"{step.title} {step.done}"
    assert step.title.startswith("Write all that n3's binary log has to ")
    assert "don't replay it as a whole" in step.why
    assert isinstance(step.action, Detached)
    assert step.action.command.argv[-2:] == ("0", f"/var/lib/pilothouse/forks/n3-{UUID[:8]}-all.sql")


def test_that_a_pipe_that_an_index_names_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bin.000001")
    index = tmp_path / "bin.index"
    index.write_text("./bin.000001\n", encoding="utf-8")
    words = ["bash", "-c", EXTRACT, "pilothouse", str(index), "0", str(tmp_path / "out" / "n3.sql")]
    reader = tmp_path / "mariadb-binlog"
    reader.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    reader.chmod(0o755)
    said = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run(words, env=said, capture_output=True, text=True, timeout=20, check=False)
    assert ran.returncode == 3, ran  # no file of a binary log can be read
