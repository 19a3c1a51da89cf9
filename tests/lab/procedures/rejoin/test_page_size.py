"""A backup of a server with another page size and two system tablespaces: its own backup-my.cnf says so to a prepare.

With --no-defaults mariadb-backup 10.11.18 takes 16k instead, and dies on such a backup.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import PREPARE
from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import COPY_CHAIN, PREPARE_ONCE
from tests.lab.estate.estate import Estate, Host

AT, COPIES, PLACE = "/srv/lab-pages", "/srv/lab-copies", "/srv/lab-place"
_HOW = "--innodb-page-size=4k '--innodb-data-file-path=ibdata1:12M;ibdata2:8M:autoextend'"
_SERVED = f"""
server() {{
  mariadbd --no-defaults --user=mysql --datadir=$1 --socket={AT}/socket --skip-networking {_HOW} --wsrep-on=OFF \
    > {AT}/server.log 2>&1 & pid=$!
  for n in $(seq 60); do ask 'SELECT 1' > /dev/null 2>&1 && return; sleep 0.5; done; exit 3
}}
ask() {{ mariadb --no-defaults -S {AT}/socket -BN -e "$1"; }}
ended() {{ kill $pid; wait $pid; }}
"""
_SUMS = "ask 'CHECKSUM TABLE shop.early, shop.later; SELECT @@innodb_page_size'"
_TAKEN = f"mariadb-backup --no-defaults --backup --user=root --socket={AT}/socket --datadir={AT}/data {_HOW}"
_MADE = f"""set -e
rm -rf {AT}; install -d -o mysql -g mysql {AT}
mariadb-install-db --no-defaults --user=mysql --datadir={AT}/data {_HOW} --skip-test-db > {AT}/made.log 2>&1
{_SERVED}
server {AT}/data
ask 'CREATE DATABASE shop; CREATE TABLE shop.early (id INT PRIMARY KEY, x VARCHAR(200));
  INSERT INTO shop.early SELECT seq, REPEAT("x", 150) FROM shop.seq_1_to_3000'
{_TAKEN} --target-dir={AT}/full > {AT}/full.log 2>&1
ask 'UPDATE shop.early SET x = "y" WHERE id % 3; CREATE TABLE shop.later AS SELECT * FROM shop.early'
{_TAKEN} --target-dir={AT}/inc --incremental-basedir={AT}/full > {AT}/inc.log 2>&1
{_SUMS}
ended || true
"""


@pytest.fixture
def host(steer: Estate) -> Iterator[Host]:
    """The spare host, on which no server runs, with a folder of its own."""
    found = steer.host("new")
    yield found
    found.sh(f"rm -rf {AT} {COPIES} {PLACE}")


def _program(host: Host, text: str, *words: str) -> str:
    return host.sh(shlex.join(("bash", "-c", text, "pilothouse", *words)), limit_s=120).out


@pytest.mark.long
@pytest.mark.slow
def test_that_a_backup_with_pages_of_4k_and_two_system_tablespaces_is_prepared_by_both_ways(host: Host) -> None:
    before = host.sh(_MADE, limit_s=240).out
    assert before.endswith("4096\n")
    _program(host, COPY_CHAIN, COPIES, "/var/lib/mysql", f"{AT}/full", f"{AT}/inc")
    target = f"--target-dir={COPIES}/0"
    for number, more in enumerate(((), (f"--incremental-dir={COPIES}/1",))):
        mark = f"{COPIES}/began-{number}"
        _program(host, PREPARE_ONCE, mark, "mariadb-backup", "--prepare", target, "--use-memory=134217728", *more)
    output = host.sh(f"{_SERVED}chown -R mysql: {COPIES}; server {COPIES}/0; {_SUMS}; ended").out
    assert output == before
    host.sh(f"printf 'u:7 0\\n' > {AT}/full/xtrabackup_galera_info; install -d {PLACE}")  # root's alone
    assert _program(host, PREPARE, f"{AT}/full", f"{PLACE}/work", "mariadb-backup", "u:7") == "prepared: u:7\n"
