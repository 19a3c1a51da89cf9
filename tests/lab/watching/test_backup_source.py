"""What a backup host tells, over the Observer road of a real server.

The lab's is MariaDB, whose INNODB_SYS_TABLESPACES has the columns of MySQL 5.7's; it has no xtrabackup. MySQL 8.0's
statement differs from it by the table's name alone, and is held against the grammar in the unit tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from services.connections.reads import commands, statements
from services.facts.server.tablespaces import (
    available_memory,
    parse_tablespaces,
    read_source,
    whole_size,
    xtrabackup_version,
)
from services.types import Flavour
from tests.lab.connections.connecting import entry, session
from tests.lab.estate.estate import Estate

ROOT = Path(__file__).resolve().parents[3]


def test_that_the_observer_reads_how_many_files_there_are_and_how_large(rejoining: Estate) -> None:
    with session(rejoining, entry(rejoining, "s1")) as observer:
        files = parse_tablespaces(observer.query(statements.TABLESPACES_57, limit_s=20))
    listed = rejoining.host("s1").sh("find /var/lib/mysql -name '*.ibd' -printf '%s\\n'").out.split()
    system = rejoining.host("s1").sh("stat -c %s /var/lib/mysql/ibdata1").out.split()
    on_disk = [int(size) for size in (*listed, *system)]
    assert sum(one.files for one in files) == len(on_disk)
    assert whole_size(files) == sum(on_disk)
    assert max(one.largest for one in files) == max(on_disk)


@pytest.mark.long
def test_that_free_memory_and_a_missing_xtrabackup_are_read_for_what_they_are(rejoining: Estate) -> None:
    with session(rejoining, entry(rejoining, "s1")) as observer:
        free = available_memory(observer.run(commands.MEMORY).text)
        said = observer.run(commands.XTRABACKUP_VERSION)
    assert free is not None
    assert 0 < free < int(rejoining.host("s1").sh("grep MemTotal /proc/meminfo").out.split()[1]) * 1024
    assert said.exit_code == 127
    assert xtrabackup_version(said.text) == ""


def test_that_a_real_mariadb_is_told_to_have_no_xbcloud(rejoining: Estate, tmp_path: Path) -> None:
    with session(rejoining, entry(rejoining, "s1")) as observer:
        source = read_source(observer)
    assert (source.flavour, source.has_xbcloud, source.problems) == (Flavour.MARIADB, False, ())
    inventory = str(rejoining.client_dir / "inventory.toml")
    words = [sys.executable, "-m", "app", "chunks", "--inventory", inventory, "--data", str(tmp_path), "--json"]
    known = {**os.environ, **rejoining.environment()}
    done = subprocess.run(
        [*words, "--host", "s1"], cwd=ROOT, env=known, capture_output=True, text=True, timeout=60, check=False
    )
    document = json.loads(done.stdout)
    assert (done.returncode, document["error"], document["host"]) == (1, "no-xbcloud", "s1")
