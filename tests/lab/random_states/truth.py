"""Which rows a node really has: asked of its server where one runs, else of a copy of its files, started in private.

The private server shares nothing with the cluster: its own folder and socket, no network, no Galera, and its files are
deleted after the question. So neither the node's data nor its state files are touched by being looked at. Files that
are the same ones as when they were last opened (name, size, inode, times of change) hold the same rows: they are not
opened again.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.random_states.ledger import SIDE, TABLE

Held = dict[str, frozenset[int]]

# wsrep_dirty_reads: a node outside a Primary Component answers too (MariaDB KB, wsrep_dirty_reads)
_ASK = "SET SESSION wsrep_sync_wait = 0; SET SESSION wsrep_dirty_reads = 1; "
_IDS = f"SELECT id FROM {TABLE}"
# A row that was written to two tables and stands in one of them is not there (ledger.only_beside says which ones are).
_IDS_BESIDE = f"SELECT s.id FROM {SIDE} s LEFT JOIN {TABLE} l ON l.id = s.id WHERE s.id MOD 2 = 1 OR l.id IS NOT NULL"
_OWN = "/var/lib/lab-truth"
_MARK = "find /var/lib/mysql -printf '%P %s %i %T@ %C@\\n' | sort | sha256sum | cut -c1-64"
# The copy has the binary log: with it the server decides which prepared transactions were committed, as the node will.
_PRIVATE = f"""
set -e
rm -rf {_OWN}; install -d -o mysql -g mysql {_OWN}
find /var/lib/mysql -mindepth 1 -maxdepth 1 ! -name 'galera.cache' ! -name 'gcache.page*' ! -name ibtmp1 ! -name sys \
    -exec cp -a --sparse=always -t {_OWN} {{}} +
install -d -o mysql -g mysql /run/mysqld
mariadbd --no-defaults --user=mysql --datadir={_OWN} --log-bin=mysql-bin --skip-networking --skip-grant-tables \
    --socket={_OWN}/truth.sock --pid-file={_OWN}/truth.pid --innodb-buffer-pool-size=24M --innodb-flush-method=fsync \
    --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-load-at-startup=OFF --wsrep-on=OFF >{_OWN}/truth.log 2>&1 &
server=$!
for try in $(seq 200); do
    if [ -S {_OWN}/truth.sock ]; then
        if mariadb --no-defaults --socket={_OWN}/truth.sock -e 'SELECT 1' >/dev/null 2>&1; then break; fi
    fi
    kill -0 $server 2>/dev/null || break
    sleep 0.05
done
code=0
mariadb --no-defaults --socket={_OWN}/truth.sock -BN -e "$IDS" || code=$?
kill -KILL $server 2>/dev/null || true
wait $server 2>/dev/null || true
[ $code -eq 0 ] || tail -n 5 {_OWN}/truth.log >&2
rm -rf {_OWN}
exit $code
"""


class Tables:
    """The tables of one estate's nodes, during one state."""

    def __init__(self, estate: Estate, *, side: bool = False) -> None:
        self._estate = estate
        self._ids = _IDS_BESIDE if side else _IDS
        self._opened: dict[str, tuple[str, frozenset[int]]] = {}

    def rows(self, names: Iterable[str]) -> Held:
        """Return the ids on each of these nodes; a node whose files no server can open has none."""
        wanted = tuple(names)
        with ThreadPoolExecutor(len(wanted)) as pool:
            return dict(zip(wanted, pool.map(self._rows_of, wanted), strict=True))

    def _rows_of(self, name: str) -> frozenset[int]:
        if database.pid(self._estate.spec, name) is not None:
            try:
                return frozenset(int(row[0]) for row in self._estate.sql(name, _ASK + self._ids, limit_s=10))
            except LabError:
                pass  # it is on its way up or down: its files as they are now
            return self._in_files(name)
        mark, opened = self._estate.host(name).sh(_MARK).out.strip(), self._opened.get(name)
        if opened is None or opened[0] != mark:
            opened = mark, self._in_files(name)
            self._opened[name] = opened
        return opened[1]

    def _in_files(self, name: str) -> frozenset[int]:
        output = self._estate.host(name).sh(f"IDS='{self._ids}'\n{_PRIVATE}", limit_s=40, check=False)
        return frozenset(int(line) for line in output.out.split()) if output.ok else frozenset()
