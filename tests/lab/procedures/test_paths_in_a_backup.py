"""Paths that the server's account lays in a backup and in its data folder, against the real programs on a real host."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import PREPARE
from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import COPY_CHAIN, PREPARE_ONCE
from services.procedures.catalogue.steps.recovering import RECOVER
from tests.lab.estate.estate import Estate, Host
from tests.lab.estate.shell import Result

AT, COPIES, PLACE, WANTED = "/srv/lab-paths", "/srv/lab-copies", "/srv/lab-place", "/etc/logrotate.d/evil"
_MADE = f"""set -e
rm -rf {AT} {COPIES} {PLACE} {WANTED}*; install -d -o mysql -g mysql {AT}; install -d {PLACE}
mariadb-install-db --no-defaults --user=mysql --datadir={AT}/data --skip-test-db > {AT}/made.log 2>&1
mariadbd --no-defaults --user=mysql --datadir={AT}/data --socket={AT}/socket --skip-networking --wsrep-on=OFF \
  > {AT}/server.log 2>&1 & pid=$!
for n in $(seq 60); do mariadb --no-defaults -S {AT}/socket -e 'CREATE DATABASE IF NOT EXISTS shop' && break; sleep 0.5
done > /dev/null 2>&1
mariadb-backup --no-defaults --backup --user=root --socket={AT}/socket --datadir={AT}/data --target-dir={AT}/full \
  > {AT}/full.log 2>&1
kill $pid; wait $pid || true
printf 'u:7 0\\n' > {AT}/full/xtrabackup_galera_info
echo 'any bytes' > {AT}/full/shop/evil.ibd
printf '../../../../../../../../etc/logrotate.d/evil' > {AT}/full/shop/evil.ren
chown -R mysql:mysql {AT}
"""


@pytest.fixture
def host(steer: Estate) -> Iterator[Host]:
    """The spare host, on which no server runs, with a backup and data of the server's account."""
    found = steer.host("new")
    found.sh(_MADE, limit_s=240)
    yield found
    found.sh(f"rm -rf {AT} {COPIES} {PLACE} {WANTED}* /etc/nologin")


def _program(host: Host, text: str, *words: str) -> Result:
    return host.sh(shlex.join(("bash", "-c", text, "pilothouse", *words)), limit_s=120, check=False)


@pytest.mark.long
def test_that_a_path_in_a_backup_and_a_link_of_the_account_lead_the_real_programs_to_nothing_of_roots(
    host: Host,
) -> None:
    """As root, mariadb-backup 10.11.18 obeyed the path (five of five), and mariadbd the link (ten of ten)."""
    ran = _program(host, PREPARE, "mysql", f"{AT}/full", f"{PLACE}/work", "mariadb-backup", "u:7")
    assert (ran.code, "could not be prepared" in ran.out) == (9, True), ran
    assert _program(host, COPY_CHAIN, COPIES, "/var/lib/mysql", f"{AT}/full").ok
    words = ("mysql", f"{COPIES}/began-0", "", "mariadb-backup", "--prepare", "--use-memory=134217728")
    ran = _program(host, PREPARE_ONCE, *words)
    assert not ran.ok, ran
    host.sh(f"runuser -u mysql -- ln -s /etc/nologin {AT}/data/$(hostname).lower-test")
    # On a folder of the test's own, and without Galera: what it makes of the words is no matter here.
    _program(host, RECOVER, "mysql", f"{AT}/data", "mariadbd", f"--datadir={AT}/data", "--wsrep-on=OFF", "--help")
    assert host.sh(f"ls {WANTED}* /etc/nologin 2>/dev/null | wc -l").out == "0\n"
    assert host.sh(f"find {PLACE} -mindepth 1 ! -user root; find {COPIES} ! -user root").out == ""
    host.sh(f"cp -a {AT}/full {AT}/roots; mariadb-backup --prepare --target-dir={AT}/roots", check=False)
    assert host.sh(f"ls {WANTED}*").out == f"{WANTED}.ibd\n", "root's own prepare no longer obeys: this shows nothing"
