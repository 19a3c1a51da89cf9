"""Which rows a node really has: asked of its server where one runs, else of a copy of its files, started in private.

The private server shares nothing with the cluster: its own folder and socket, no network, no Galera, and its files are
deleted after the question. So neither the node's data nor its state files are touched by being looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from tests.lab.estate import database
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.random_states.ledger import TABLE

Held = dict[str, frozenset[int]]

# wsrep_dirty_reads: a node outside a Primary Component answers too (MariaDB KB, wsrep_dirty_reads)
_ASK = f"SET SESSION wsrep_sync_wait = 0; SET SESSION wsrep_dirty_reads = 1; SELECT id FROM {TABLE}"
_OWN = "/var/lib/lab-truth"
# The copy has the binary log: with it the server decides which prepared transactions were committed, as the node will.
_PRIVATE = f"""
set -e
rm -rf {_OWN}; install -d -o mysql -g mysql {_OWN}
find /var/lib/mysql -mindepth 1 -maxdepth 1 ! -name 'galera.cache' ! -name 'gcache.page*' \
    -exec cp -a --sparse=always -t {_OWN} {{}} +
install -d -o mysql -g mysql /run/mysqld
mariadbd --no-defaults --user=mysql --datadir={_OWN} --log-bin=mysql-bin --skip-networking --skip-grant-tables \
    --socket={_OWN}/truth.sock --pid-file={_OWN}/truth.pid --innodb-buffer-pool-size=24M --innodb-flush-method=fsync \
    --innodb-flush-log-at-trx-commit=0 --wsrep-on=OFF >{_OWN}/truth.log 2>&1 &
server=$!
for try in $(seq 100); do
    if mariadb --no-defaults --socket={_OWN}/truth.sock -e 'SELECT 1' >/dev/null 2>&1; then break; fi
    kill -0 $server 2>/dev/null || break
    sleep 0.1
done
code=0
mariadb --no-defaults --socket={_OWN}/truth.sock -BN -e 'SELECT id FROM {TABLE}' || code=$?
kill -KILL $server 2>/dev/null || true
wait $server 2>/dev/null || true
[ $code -eq 0 ] || tail -n 5 {_OWN}/truth.log >&2
rm -rf {_OWN}
exit $code
"""


def rows(estate: Estate, names: Iterable[str]) -> Held:
    """Return the ids on each of these nodes; a node whose files no server can open has none."""
    wanted = tuple(names)
    with ThreadPoolExecutor(len(wanted)) as pool:
        return dict(zip(wanted, pool.map(lambda name: _rows_of(estate, name), wanted), strict=True))


def _rows_of(estate: Estate, name: str) -> frozenset[int]:
    if database.pid(estate.spec, name) is not None:
        try:
            return frozenset(int(row[0]) for row in estate.sql(name, _ASK, limit_s=10))
        except LabError:
            pass  # it is on its way up or down: its files as they are now
    told = estate.host(name).sh(_PRIVATE, limit_s=40, check=False)
    return frozenset(int(line) for line in told.out.split()) if told.ok else frozenset()
