"""A path that whoever wrote a backup lays in it, against the real mariadb-backup and the console's own programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import PREPARE
from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import COPY_CHAIN, PREPARE_ONCE
from tests.lab.estate.estate import Estate, Host
from tests.lab.estate.shell import Result

AT, COPIES, PLACE, WANTED = "/srv/lab-paths", "/srv/lab-copies", "/srv/lab-place", "/etc/logrotate.d/lab-evil"
ELSEWHERE, ROOTS = "/var/tmp/lab-p", "/opt/lab-roots/theirs"
"""A folder of the account's with a name that takes no more room with /t than ./shop/long_name, and a file of root's."""
TABLES = 200
REFUSED = "names a place that is no table of the backup"
_MADE = f"""set -e
rm -rf {AT} {COPIES} {PLACE} {WANTED}*; install -d -o mysql -g mysql {AT}; install -d {PLACE}
mariadb-install-db --no-defaults --user=mysql --datadir={AT}/data --skip-test-db > {AT}/made.log 2>&1
ask() {{ mariadb --no-defaults -S {AT}/socket -e "$1"; }}
served() {{
  mariadbd --no-defaults --user=mysql --datadir={AT}/data --socket={AT}/socket --skip-networking --wsrep-on=OFF \\
    >> {AT}/server.log 2>&1 & pid=$!
  for n in $(seq 60); do ask 'CREATE DATABASE IF NOT EXISTS shop' && return; sleep 0.5; done > /dev/null 2>&1
}}
ended() {{ kill $pid; wait $pid || true; }}
served
for n in $(seq {TABLES}); do echo "CREATE TABLE shop.first_$n (id INT);"; done | mariadb --no-defaults -S {AT}/socket
ended; served
for n in $(seq {TABLES}); do echo "RENAME TABLE shop.first_$n TO shop.later_$n; SELECT SLEEP(0.02);"
done | mariadb --no-defaults -S {AT}/socket > /dev/null & renaming=$!
mariadb-backup --no-defaults --backup --user=root --socket={AT}/socket --datadir={AT}/data --target-dir={AT}/full \\
  > {AT}/full.log 2>&1
wait $renaming
ended
printf 'u:7 0\\n' > {AT}/full/xtrabackup_galera_info
cp -a {AT}/full {AT}/evil
echo 'any bytes' > {AT}/evil/shop/evil.ibd
printf '../../../../../../../..{WANTED}' > {AT}/evil/shop/evil.ren
chown -R mysql:mysql {AT}
"""


@pytest.fixture(scope="module")
def host(steer_estate: Estate) -> Iterator[Host]:
    """The spare host, on which no server runs, with backups of the server's account: one names a path of root's."""
    found = steer_estate.host("new")
    found.sh(_MADE, limit_s=240)
    yield found
    found.sh(f"rm -rf {AT} {COPIES} {PLACE} {WANTED}*")


def program(host: Host, text: str, *words: str) -> Result:
    return host.sh(shlex.join(("bash", "-c", text, "pilothouse", *words)), limit_s=120, check=False)


def written(host: Host) -> str:
    """Return what lies at the path that the backup names."""
    return host.sh(f"ls {WANTED}* 2>/dev/null; true").out


@pytest.mark.long
def test_that_the_real_tool_obeys_a_path_in_a_backup_as_root(host: Host) -> None:
    """The others below show nothing once it does not."""
    host.sh(f"cp -a {AT}/evil {AT}/roots; mariadb-backup --prepare --target-dir={AT}/roots", check=False)
    try:
        assert written(host) == f"{WANTED}.ibd\n"
        assert host.sh(f"cat {WANTED}.ibd").out == "any bytes\n"
    finally:
        host.sh(f"rm -rf {AT}/roots {WANTED}*")


@pytest.mark.long
def test_that_a_copy_with_such_a_path_is_not_prepared(host: Host) -> None:
    ran = program(host, PREPARE, f"{AT}/evil", f"{PLACE}/work", "mariadb-backup", "u:7")
    assert (ran.code, REFUSED in ran.out) == (9, True), ran
    assert written(host) == ""
    assert host.sh(f"ls -d {PLACE}/work 2>/dev/null; true").out == ""


@pytest.mark.long
def test_that_a_chain_with_such_a_path_is_not_copied_to_its_end(host: Host) -> None:
    ran = program(host, COPY_CHAIN, COPIES, "/var/lib/mysql", f"{AT}/evil")
    assert (ran.code, REFUSED in ran.out) == (7, True), ran
    assert written(host) == ""


@pytest.mark.long
def test_that_a_copy_into_which_such_a_path_came_is_not_prepared_once_either(host: Host) -> None:
    """The copies are root's alone; they are asked all the same, right before the tool reads them."""
    host.sh(f"rm -rf {COPIES}")
    ran = program(host, COPY_CHAIN, COPIES, "/var/lib/mysql", f"{AT}/full")
    assert ran.ok, ran
    host.sh(f"cp {AT}/evil/shop/evil.* {COPIES}/0/shop/")
    ran = program(host, PREPARE_ONCE, f"{COPIES}/began-0", "mariadb-backup", "--prepare", f"--target-dir={COPIES}/0")
    assert (ran.code, REFUSED in ran.out) == (9, True), ran
    assert written(host) == ""
    assert host.sh(f"ls -d {COPIES}/began-0 2>/dev/null; true").out == "", "nothing began"


_LOGGED = f"""set -e
rm -rf {ELSEWHERE} {COPIES} {PLACE}/*; install -d -m 0700 /opt/lab-roots; install -d -o mysql -g mysql {ELSEWHERE}
mariadbd --no-defaults --user=mysql --datadir={AT}/data --socket={AT}/socket --skip-networking --wsrep-on=OFF \\
  >> {AT}/server.log 2>&1 & pid=$!
ask() {{ mariadb --no-defaults -S {AT}/socket -e "$1"; }}
for n in $(seq 60); do ask 'SELECT 1' && break; sleep 0.5; done > /dev/null 2>&1
ask 'CREATE OR REPLACE TABLE shop.long_name (t TEXT) ENGINE=Aria TRANSACTIONAL=1 ROW_FORMAT=PAGE; FLUSH TABLES'
cp {AT}/data/shop/long_name.MAI {ELSEWHERE}/t.MAI; cp {AT}/data/shop/long_name.MAD {ROOTS}; chmod 0600 {ROOTS}
ln -s {ROOTS} {ELSEWHERE}/t.MAD
ask "INSERT INTO shop.long_name VALUES ('rows of a backup')"
mariadb-backup --no-defaults --backup --user=root --socket={AT}/socket --datadir={AT}/data --target-dir={AT}/logged \\
  > {AT}/logged.log 2>&1
kill $pid; wait $pid || true
printf 'u:7 0\\n' > {AT}/logged/xtrabackup_galera_info
LC_ALL=C sed -i 's#[.]/shop/long_name#{ELSEWHERE}/t#g' {AT}/logged/aria_log.00000001
chown -R mysql:mysql {AT}/logged; chown mysql:mysql {ELSEWHERE}/*; cp {ROOTS} {ROOTS}.was; cp -a {ELSEWHERE} {AT}/again
"""
"""A log of Aria names a table of the account's own, whose rows lie behind a link in a file of root's."""


@pytest.mark.long
def test_that_a_path_in_the_log_of_a_backup_leads_to_nothing_of_roots(host: Host) -> None:
    """By root's own tool the file is overwritten: else the two ways of the console show nothing."""
    host.sh(_LOGGED, limit_s=240)
    try:
        ran = program(host, PREPARE, f"{AT}/logged", f"{PLACE}/work", "mariadb-backup", "u:7")
        assert (ran.code, "could not be opened: Error: 13" in ran.out) == (9, True), ran
        assert program(host, COPY_CHAIN, COPIES, "/var/lib/mysql", f"{AT}/logged").ok
        words = (f"{COPIES}/began-0", "mariadb-backup", "--prepare", f"--target-dir={COPIES}/0")
        ran = program(host, PREPARE_ONCE, *words)
        assert "could not be opened: Error: 13" in ran.out + ran.err, ran
        host.sh(f"cmp {ROOTS} {ROOTS}.was")
        host.sh(f"cp -a {AT}/again/t.MAI {ELSEWHERE}/; mariadb-backup --prepare --target-dir={AT}/logged")
        assert host.sh(f"grep -ac 'rows of a backup' {ROOTS}").out.strip() == "1"
    finally:
        host.sh(f"rm -rf {ELSEWHERE} /opt/lab-roots")


@pytest.mark.long
def test_that_tables_that_were_renamed_while_the_backup_was_taken_are_prepared_by_both_ways(host: Host) -> None:
    """What the tool itself writes such files for: the refusal takes nothing else away."""
    assert host.sh(f"cd {AT}/full && find . -name '*.ren'").out, "the backup holds none: this shows nothing"
    ran = program(host, PREPARE, f"{AT}/full", f"{PLACE}/work", "mariadb-backup", "u:7")
    assert ran.ok, ran
    host.sh(f"rm -rf {COPIES}")
    assert program(host, COPY_CHAIN, COPIES, "/var/lib/mysql", f"{AT}/full").ok
    words = (f"{COPIES}/began-0", "mariadb-backup", "--prepare", f"--target-dir={COPIES}/0")
    assert program(host, PREPARE_ONCE, *words).ok
    for folder in (f"{PLACE}/work/shop", f"{COPIES}/0/shop"):
        names = host.sh(f"ls {folder}").out.split()
        whole = sorted(name.removesuffix(".frm") for name in names if name.endswith(".frm"))
        assert whole == sorted(name.removesuffix(".ibd") for name in names if name.endswith(".ibd"))
        assert len(whole) == TABLES
