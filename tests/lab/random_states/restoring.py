"""The estate whole again within seconds: each member's data folder and configuration put back, all started.

While random states run the members know each other as gone sooner than by default (evs.suspect_timeout), so that a
state takes seconds. Ends with `give_back`, which leaves the estate as it was found.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from tests.lab.estate.breaking import breaks
from tests.lab.estate.estate import Estate
from tests.lab.estate.host import container, rootfs
from tests.lab.estate.servers import database, galera
from tests.lab.estate.shell import run
from tests.lab.procedures.whole import Whole, members
from tests.lab.random_states.ledger import MAKE, MAKE_SIDE, TABLE

_FILE = "/etc/mysql/mariadb.conf.d/95-random-states.cnf"
# Galera documentation, "Galera Cluster parameters": suspect after 5 s, inactive after 15 s are the defaults.
_OPTIONS = "gcache.size=32M;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT5S;evs.keepalive_period=PT0.5S"
_LOG_SIZE = 16 * 2**20
"""Bytes of InnoDB's log, for 96 MB: a state copies every data folder, and each SST makes a log anew."""
_QUICK = f'[mysqld]\nwsrep_provider_options = "{_OPTIONS}"\ninnodb_log_file_size = {_LOG_SIZE}\n'
# Debian looks through all tables after each start, on a processor that two estates share.
_NO_CHECKS = "printf '#!/bin/sh\\nexit 0\\n' > /etc/mysql/debian-start"
# Rows are compared where the account that reads may read them (resources/docs/rejoining.md).
_MADE = (
    f"{MAKE_SIDE}; GRANT ALL PRIVILEGES ON shop.* TO sysbench@'%'; GRANT SELECT ON sbtest.* TO observer@'%'; "
    "GRANT SELECT ON shop.* TO observer@'%'"
)
_UNMADE = (
    "REVOKE SELECT ON sbtest.* FROM observer@'%'; REVOKE SELECT ON shop.* FROM observer@'%'; "
    "REVOKE ALL PRIVILEGES ON shop.* FROM sysbench@'%'; DROP DATABASE IF EXISTS shop"
)
_PRISTINE = "pristine"
_VIEW = "gvwstate.dat"
_QUIET = """
pkill -CONT -x -u mysql mariadbd; pkill -KILL -u mysql; pkill -KILL socat; pkill -KILL mbstream
for unit in $(systemctl list-units --all --plain --no-legend 'pilothouse-*' | awk '{print $1}'); do
    systemctl kill -s KILL $unit; systemctl stop $unit; systemctl reset-failed $unit
done
systemctl unset-environment _WSREP_NEW_CLUSTER _WSREP_START_POSITION
systemctl stop mariadb; systemctl reset-failed mariadb
umount -q "$(readlink -f /usr/bin/wsrep_sst_mariabackup)"
left=$(find /run/systemd/system /etc/systemd/system \\( -name '*pilothouse*' -o -name 99-lab-filter.conf \\) \
    -print -delete)
rm -rf /run/pilothouse /var/lib/pilothouse /var/lib/mysql.pilothouse-* /var/lib/lab-*
find /var/lib/mysql -mindepth 1 -delete
rm -rf /etc/mysql
base64 -d | tar -C / -xzf -
[ -z "$left" ] || systemctl daemon-reload
journalctl --rotate --vacuum-size=1 >/dev/null
true
"""
_KEEP = "tar -C / -czf - etc/mysql | base64 -w0"


class Pristine:
    """The estate as every state begins: three members of one cluster, an empty ledger, nothing with our name."""

    def __init__(self, estate: Estate) -> None:
        """Take the estate over: quick timers, the table, and a copy of every stopped node."""
        self._estate = estate
        self._take_over()

    def begin_again(self) -> None:
        """Make the estate anew: another session has taken it down, or a state has left it in pieces."""
        self._estate.down()
        self._estate.up()
        self._take_over()

    def _take_over(self) -> None:
        estate = self._estate
        for name in members(estate):  # what a run that was killed has left
            estate.host(name).sh(f"rm -f {_FILE}")
        self._whole = Whole(estate)
        for name in members(estate):
            estate.host(name).sh(f"cat > {_FILE}; {_NO_CHECKS}", stdin=_QUICK)
        # MariaDB KB, "innodb_log_file_size": dynamic since 10.9. Its files are every member's afterwards.
        first = f"SET GLOBAL innodb_log_file_size = {_LOG_SIZE}; DROP TABLE IF EXISTS {TABLE}; {MAKE}; {_MADE}"
        estate.sql(members(estate)[0], first)
        views = {name: estate.host(name).sh(f"cat /var/lib/mysql/{_VIEW}").out for name in members(estate)}
        self._stop_in_order()
        self._kept = {name: estate.host(name).sh(_KEEP).out for name in members(estate)}
        for name in members(estate):
            # One node's data and one view for all: they restore their Primary Component without any transfer
            # (Galera documentation, "pc.recovery": gvwstate.dat holds the view; it is Primary once all are back).
            self._copy(members(estate)[0], name, views[name])

    def _stop_in_order(self) -> None:
        first, *others = members(self._estate)
        for name in (*others, first):
            database.stop(self._estate.spec, name)

    def _copy(self, source: str, name: str, view: str) -> None:
        kept = rootfs.data(self._estate.spec, name).parent / _PRISTINE
        run(["rm", "-rf", str(kept)])
        run(["cp", "-a", "--sparse=always", str(rootfs.data(self._estate.spec, source)), str(kept)])
        (kept / "galera.cache").unlink(missing_ok=True)
        (kept / _VIEW).write_text(view, encoding="utf-8")
        owner = (kept / "grastate.dat").stat()
        os.chown(kept / _VIEW, owner.st_uid, owner.st_gid)

    def restore(self) -> None:
        """Make every member what it was, by force, and start them."""
        breaks.heal(self._estate.spec)
        names = members(self._estate)
        with ThreadPoolExecutor(len(names)) as pool:
            tuple(pool.map(self._put_back, names))
            tuple(pool.map(lambda name: database.begin_start(self._estate.spec, name), names))
        galera.wait_synced(self._estate.spec, names, limit_s=180, size=len(names), every_s=0.7)

    def _put_back(self, name: str) -> None:
        spec = self._estate.spec
        breaks.thaw(spec, name)
        container.sh(spec, name, _QUIET, stdin=self._kept[name], limit_s=60)
        data = rootfs.data(spec, name)
        run(["cp", "-a", "--sparse=always", f"{data.parent / _PRISTINE}/.", str(data)])

    def _form(self) -> None:
        spec, (first, *others) = self._estate.spec, members(self._estate)
        database.begin_start(spec, first, first=True)
        for name in others:  # one after the other: two at once can leave one that never becomes Synced
            database.begin_start(spec, name)
            galera.wait_synced(spec, (name,), limit_s=180)
        galera.wait_synced(spec, members(self._estate), limit_s=180, size=len(members(self._estate)))

    def give_back(self) -> None:
        """Leave the estate as it was found: its own timers, no copy left."""
        self.restore()
        self._estate.sql(members(self._estate)[0], f"DROP TABLE IF EXISTS {TABLE}; {_UNMADE}")
        self._stop_in_order()
        for name in members(self._estate):
            self._estate.host(name).sh(f"rm -f {_FILE}")
            run(["rm", "-rf", str(rootfs.data(self._estate.spec, name).parent / _PRISTINE)])
        self._form()
        self._whole.restore()
