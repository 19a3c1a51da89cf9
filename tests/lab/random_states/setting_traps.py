"""The traps on a real estate (traps.py): a backup chain and what it lacks, a filter, an SST that never began.

Each is made as a night makes it: the filter by a unit's environment and a restart, the empty state file by a start
whose donors could send nothing, the missing files by taking them out of a backup that was whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.random_states.nights import BACKUP, INCREMENT, LOGS

DATA = "/var/lib/mysql"
_DROP_IN = "/etc/systemd/system/mariadb.service.d/99-lab-filter.conf"
_SST = '"$(readlink -f /usr/bin/wsrep_sst_mariabackup)"'
_ZERO = "grep -q '^uuid: *00000000-0000-0000-0000-000000000000' " + f"{DATA}/grastate.dat"
# Written out before: else an incremental has its pages in its log alone, and a lost delta takes nothing away.
_FLUSHED = "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0, innodb_max_dirty_pages_pct = 0"
_FULL, _FIRST, _LAST = BACKUP, INCREMENT.format(number=1), INCREMENT.format(number=2)
_HALVE = {
    "frm": f"rm {_FULL}/sbtest/ledger.frm",
    "meta": f"rm {_LAST}/sbtest/ledger.ibd.meta",
    "delta": f"rm {_LAST}/sbtest/ledger.ibd.delta",
    "delta-and-meta": f"rm {_LAST}/sbtest/ledger.ibd.*",
    "table": f"rm {_FULL}/sbtest/ledger.* && rm -f {_FIRST}/sbtest/ledger.* {_LAST}/sbtest/ledger.*",
    "older-delta": f"cp -p {_FIRST}/sbtest/ledger.ibd.delta {_LAST}/sbtest/",
    "delta-cut": f"truncate -s -16384 {_LAST}/sbtest/ledger.ibd.delta",
    "ibd-cut": f"truncate -s -32768 {_FULL}/sbtest/ledger.ibd",
}
_MARK = "lab-mark"
_KEEP = (
    f"mkdir -m 700 '{DATA}/{{name}}' && cd {DATA} && cp -a ibdata1 sbtest mysql '{{name}}' && touch '{{name}}/{_MARK}'"
)
_START = f"""cp -p {DATA}/grastate.dat /var/lib/lab-grastate
systemctl reset-failed mariadb; systemctl start --no-block mariadb
for try in $(seq 50); do
    sleep 0.5
    {_ZERO} && {{ [ "$(systemctl is-active mariadb)" = failed ] || ! pgrep -x mariadbd >/dev/null; }} && break
done
systemctl kill -s KILL mariadb; systemctl stop mariadb; systemctl reset-failed mariadb
{_ZERO}
"""


def increment(estate: Estate, host: str, number: int) -> str:
    """Make the incremental of this number, from 1 on, on top of the backup before it; return its folder."""
    folder = INCREMENT.format(number=number)
    base = BACKUP if number == 1 else INCREMENT.format(number=number - 1)
    estate.sql(host, _FLUSHED)
    made = f"mariadb-backup --backup --galera-info --target-dir={folder} --incremental-basedir={base}"
    estate.host(host).sh(f"sleep 3; rm -rf {folder}; timeout 60 {made} > /tmp/lab-incremental 2>&1", limit_s=80)
    return folder


def halve(estate: Estate, host: str, value: str) -> None:
    """Take out of the chain what `value` says; LabError where it is not there."""
    estate.host(host).sh(_HALVE[value])


def keep(estate: Estate, host: str, name: str) -> None:
    """Lay a folder with older data into the data folder, root's, as a run leaves it."""
    estate.host(host).sh(_KEEP.format(name=name))


def kept_on(estate: Estate, host: str) -> int:
    """Return how many such folders are on a host, wherever they were moved."""
    found = estate.host(host).sh(
        f"find /var/lib -path '/var/lib/lab-*' -prune -o -name {_MARK} -print | wc -l", check=False
    )
    return int(found.out.strip() or 0)


def filtered(estate: Estate, host: str, option: str) -> None:
    """Start a running server again with a filter that its unit's environment gives it."""
    estate.host(host).sh(
        f"mkdir -p {_DROP_IN.rpartition('/')[0]}; "
        f"printf '[Service]\\nEnvironment=MYSQLD_OPTS=--{option}\\n' > {_DROP_IN}; "
        "systemctl daemon-reload; timeout 60 systemctl restart mariadb",
        limit_s=80,
    )


def lose(estate: Estate, host: str) -> None:
    """Empty the data folder of a stopped node; LabError where its server runs."""
    estate.host(host).sh(f"! pgrep -x -u mysql mariadbd && find {DATA} -mindepth 1 -delete")


def has_logs(estate: Estate, host: str) -> bool:
    """Return whether binary logs lie in a host's data folder."""
    return estate.host(host).sh(f"ls {DATA}/mysql-bin.[0-9]*", check=False).ok


def never_began(estate: Estate, host: str, donors: Sequence[str]) -> None:
    """Start a stopped node whose donors have empty caches and fail each SST at once; stopped again, its state is empty.

    Raises:
        LabError: it needed no transfer, or the donors are not Synced: its state file is what it was.
    """
    for name in donors:  # one after the other: the component must live on
        estate.host(name).sh(f"systemctl stop mariadb; rm -f {DATA}/galera.cache; systemctl start mariadb", limit_s=60)
        estate.wait_synced(donors, size=len(donors), limit_s=30)
    try:
        for name in donors:
            estate.host(name).sh(f"mount --bind /bin/false {_SST}")
        begun = estate.host(host).sh(_START, limit_s=60, check=False)
    finally:
        for name in donors:
            estate.host(name).sh(f"umount -q {_SST}", check=False)
    if not begun.ok:
        estate.host(host).sh(f"cp -p /var/lib/lab-grastate {DATA}/grastate.dat")
        raise LabError("no SST was asked for")


def carry_logs(estate: Estate, source: str, to: str) -> None:
    """Bring a member's binary logs to another host, as an operator does before anything is put in their place."""
    packed = estate.host(source).sh(f"cd {DATA} && tar -czf - mysql-bin.[0-9]* | base64 -w0").out
    estate.host(to).sh(f"rm -rf {LOGS} && mkdir {LOGS} && base64 -d | tar -C {LOGS} -xzf -", stdin=packed)
