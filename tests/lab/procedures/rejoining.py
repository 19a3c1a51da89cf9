"""A node that is away too long for IST, on real servers: its backup, the binary logs behind it, caches that forgot."""

from __future__ import annotations

from services.facts.reading import count
from tests.lab.estate.estate import Estate

BACKUP, LOGS = "/srv/rejoin/backup", "/srv/rejoin/binlogs"
BLOB = "CREATE TABLE IF NOT EXISTS sbtest.ballast (id INT PRIMARY KEY AUTO_INCREMENT, data LONGBLOB) ENGINE=InnoDB"
PIECE = 4 * 2**20
MOST = 80


def status(estate: Estate, host: str, name: str) -> int:
    """A numeric status value of a server."""
    told = dict(estate.sql(host, f"SHOW GLOBAL STATUS LIKE '{name}'"))
    return count(told.get(name, "")) or 0


def back_up(estate: Estate, host: str, folder: str = BACKUP) -> int:
    """Take a full backup on a member; return the seqno that it stands at."""
    script = (
        f"rm -rf {folder} && mkdir -p {folder} && "
        f"mariabackup --backup --galera-info --target-dir={folder} >{folder}.out 2>&1 || tail -n 20 {folder}.out >&2; "
        f"cut -d ' ' -f 1 {folder}/xtrabackup_galera_info"
    )
    return int(estate.host(host).sh(script, limit_s=300).out.strip().rpartition(":")[2])


def forget(estate: Estate, seqno: int, writer: str, donors: tuple[str, ...]) -> None:
    """Write until no donor caches what follows `seqno`; bounded."""
    estate.sql(writer, BLOB)
    for _ in range(MOST):
        if all(status(estate, name, "wsrep_local_cached_downto") > seqno + 1 for name in donors):
            break
        estate.sql(writer, f"INSERT INTO sbtest.ballast (data) VALUES (REPEAT(RANDOM_BYTES(1024), {PIECE // 1024}))")
    else:
        raise AssertionError(f"the caches still go back to {seqno}")
    estate.sql(writer, "TRUNCATE TABLE sbtest.ballast")


def away(estate: Estate, host: str, folder: str = LOGS) -> None:
    """Stop a member and keep its binary logs in a folder of its own."""
    script = (
        "systemctl stop mariadb && "
        f"rm -rf {folder} && mkdir -p {folder} && cp -p /var/lib/mysql/mysql-bin.[0-9]* {folder}/"
    )
    estate.host(host).sh(script, limit_s=120)


def carry_logs(estate: Estate, source: str, to: str, folder: str = LOGS) -> None:
    """Bring a member's binary logs to another host, as an operator does with scp."""
    packed = estate.host(source).sh("cd /var/lib/mysql && tar -czf - mysql-bin.[0-9]* | base64 -w0", limit_s=120).out
    script = f"rm -rf {folder} && mkdir -p {folder} && base64 -d | tar -C {folder} -xzf -"
    estate.host(to).sh(script, stdin=packed, limit_s=120)
