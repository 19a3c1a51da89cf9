"""Names of a database's users in what a replay or a recovery reads: a name is never a statement, nor a position."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from services.facts.binlog.chain import Wrong
from services.facts.binlog.survey import parse_survey
from services.facts.galera.state_files import RECOVERED
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey_program import SURVEY, SURVEYED

RECORDED = Path(__file__).parents[1] / "unit/recorded/binlogs/kinds/mysql-bin.000002.txt"
U = "0a9baafc-e833-11f1-988e-8319290952fc"
GRANT = "x\nGRANT ALL ON *.* TO me@localhost/*!*/;#"
"""The name of a table. MariaDB 10.11.18: its owner had all rights on the node that replayed a row of it."""


def _surveyed(tmp_path: Path, name: str) -> str:
    """Survey a log with a row of a table of this name, as mariadb-binlog prints it: backticks doubled, breaks not."""
    logs, backup, tools = tmp_path / "logs", tmp_path / "backup", tmp_path / "tools"
    for folder in (logs, backup, tools):
        folder.mkdir()
    text = RECORDED.read_text(encoding="utf-8")
    assert text.count("`a` mapped") > 1
    quoted = name.replace("`", "``")
    spoilt = text.replace("`a` mapped", f"`{quoted}` mapped", 1)
    (logs / "mysql-bin.000002").write_text(spoilt, encoding="utf-8")
    (backup / "xtrabackup_galera_info").write_text(f"{U}:8\n", encoding="ascii")
    (backup / "xtrabackup_checkpoints").write_text("backup_type = full-backuped\n", encoding="ascii")
    (tools / "mariadb-binlog").write_text('#!/bin/sh\nfor last; do :; done\ncat -- "$last"\n', encoding="ascii")
    (tools / "mariadb-binlog").chmod(0o755)
    ran = subprocess.run(
        ["bash", "-c", SURVEY, "pilothouse", str(backup), str(logs), str(tmp_path / "data")],
        env={"PATH": f"{tools}:/usr/bin:/bin"}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return ran.stdout


@pytest.mark.parametrize(
    "name", [GRANT, "x` mapped to number 18\nDROP DATABASE shop/*!*/;#", "x mapped to number 1\nDROP TABLE t/*!*/;#"]
)
def test_that_no_log_is_replayed_in_which_a_tables_name_would_run_as_a_statement(tmp_path: Path, name: str) -> None:
    told = _surveyed(tmp_path, name).splitlines()[-1]
    found = parse_survey(told.removeprefix("survey: "))
    assert isinstance(found, Wrong), told
    assert "line break" in found.evidence


def test_that_odd_names_without_a_line_break_are_read(tmp_path: Path) -> None:
    told = _surveyed(tmp_path, "a`b \tmapped to #number; 'x").splitlines()[-1]
    assert not isinstance(parse_survey(told.removeprefix("survey: ")), Wrong), told


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-22 14:32:04 0 [Note] WSREP: Recovered position: {at}",
        "2026-11-22T14:32:04.123456Z 0 [Note] [MY-000000] [WSREP] Recovered position: {at}",
        "WSREP: Recovered position: {at},0-41-14",
    ],
)
def test_that_a_position_is_the_providers_own_line_and_no_tables_name(line: str) -> None:
    """Tried with 10.11.18: a discarded tablespace, its table called so. The first position in the log counted."""
    discarded = "2026-11-26  6:22:18 0 [Warning] InnoDB: Tablespace for table `d`.`{name}` is set as discarded."
    names = (f"Recovered position{U}:8888888", f"\nWSREP: Recovered position{U}:9", f"\nRecovered position: {U}:88888")
    assert all(len(name) <= 64 for name in names)
    log = "\n".join([*(discarded.format(name=name) for name in names), line.format(at=f"{U}:12")])
    found = re.search(RECOVERED, log, re.MULTILINE)
    assert found is not None
    assert found[1] == f"{U}:12"


def test_that_a_name_in_a_backup_is_never_taken_for_the_survey(tmp_path: Path) -> None:
    """du named a broken link on the way: the first 'survey: ...' in what was printed counted."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup/xtrabackup_galera_info").write_text(f"{U}:8\n", encoding="ascii")
    (tmp_path / "backup/survey: backup uuid=x").symlink_to("/nowhere")
    words = [str(tmp_path / one) for one in ("backup", "logs", "data")]
    ran = subprocess.run(["bash", "-c", SURVEY, "pilothouse", *words], capture_output=True, text=True, check=False)
    found = re.search(SURVEYED, ran.stderr + ran.stdout)
    assert found is not None
    assert found[1].startswith("refused "), ran
