"""A node that is away too long for IST, on real servers: its backup, the binary logs behind it, caches that forgot."""

from __future__ import annotations

from services.facts.reading import count
from tests.lab.estate.estate import Estate

BACKUP, LOGS = "/srv/rejoin/backup", "/srv/rejoin/binlogs"
BLOB = "CREATE TABLE IF NOT EXISTS sbtest.ballast (id INT PRIMARY KEY AUTO_INCREMENT, data LONGBLOB) ENGINE=InnoDB"
PIECE = 4 * 2**20
MOST, ROOM = 80, 150
LISTS_SCHEMAS = """cat > /root/lab-lister <<'X'
while :; do
  for i in {1..100}; do echo 'SHOW DATABASES; SHOW TABLES FROM sbtest; DO SLEEP(0.005);'; done |
    mariadb -N >/dev/null 2>&1
done
X
systemd-run --collect --quiet --unit=lab-lister bash /root/lab-lister
"""
"""A monitor that lists schemas and tables all the while: each list logs a complaint about a folder that is none."""


OWN_LOGS = ("--override", "FILTERS-THEN=the lab sets no filter")
"""The logs of a node that is down: nobody tells what its server was started with."""
VARIED = ("sbtest.keyless", "sbtest.pictures", "sbtest.parents", "sbtest.children")


def varied(estate: Estate, host: str) -> None:
    """Make tables as applications have them: without a primary key, with blobs, with a foreign key that cascades."""
    estate.sql(
        host,
        f"USE sbtest; DROP TABLE IF EXISTS {', '.join(reversed(VARIED))}; "
        "CREATE TABLE sbtest.keyless (a INT, b VARCHAR(40)); "
        "CREATE TABLE sbtest.pictures (id INT PRIMARY KEY, data LONGBLOB NOT NULL); "
        "CREATE TABLE sbtest.parents (id INT PRIMARY KEY, name VARCHAR(40)); "
        "CREATE TABLE sbtest.children (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES "
        "sbtest.parents (id) ON DELETE CASCADE); "
        "INSERT INTO sbtest.keyless SELECT seq, MD5(seq) FROM seq_1_to_200; "
        "INSERT INTO sbtest.pictures SELECT seq, REPEAT(MD5(seq), 2000) FROM seq_1_to_20; "
        "INSERT INTO sbtest.parents SELECT seq, MD5(seq) FROM seq_1_to_50; "
        "INSERT INTO sbtest.children SELECT seq, 1 + seq MOD 50 FROM seq_1_to_200",
    )


def varied_on(estate: Estate, host: str) -> None:
    """Change them all, with a DDL in the middle of it: rows with duplicates, blobs, a cascade, a new column."""
    estate.sql(
        host,
        "USE sbtest; DELETE FROM sbtest.keyless WHERE a < 20; INSERT INTO sbtest.keyless VALUES (7, 'x'), (7, 'x'); "
        "UPDATE sbtest.pictures SET data = RANDOM_BYTES(900) WHERE id < 5; DELETE FROM sbtest.parents WHERE id < 10; "
        "ALTER TABLE sbtest.parents ADD COLUMN added INT NOT NULL DEFAULT 7; "
        "INSERT INTO sbtest.parents SELECT seq, UUID(), seq FROM seq_60_to_90; "
        "INSERT INTO sbtest.children SELECT seq + 500, seq FROM seq_60_to_90; "
        "UPDATE sbtest.keyless SET b = CONCAT(b, '!') LIMIT 50",
    )


def status(estate: Estate, host: str, name: str) -> int:
    """A numeric status value of a server."""
    told = dict(estate.sql(host, f"SHOW GLOBAL STATUS LIKE '{name}'"))
    return count(told.get(name, "")) or 0


def count_alike(estate: Estate, hosts: tuple[str, ...]) -> None:
    """Let members count their GTIDs alike from here on, whatever one of them has written for itself before.

    Without it no member's binary log can show of which past another's backup is: what a DBA accepts, and no test here.
    """
    last = max(int(estate.sql(host, "SELECT @@gtid_binlog_pos")[0][0].rpartition("-")[2]) for host in hosts)
    own = f"SET SESSION wsrep_on = OFF, gtid_seq_no = {last + 1}; CREATE DATABASE counted; DROP DATABASE counted"
    for host in hosts:
        estate.sql(host, own)


def back_up(estate: Estate, host: str, folder: str = BACKUP) -> int:
    """Take a full backup on a member; return the seqno that it stands at."""
    script = (
        f"rm -rf {folder} && mkdir -p {folder} && "
        f"mariabackup --backup --galera-info --target-dir={folder} >{folder}.out 2>&1 || tail -n 20 {folder}.out >&2; "
        f"cut -d ' ' -f 1 {folder}/xtrabackup_galera_info"
    )
    return int(estate.host(host).sh(script, limit_s=300).out.strip().rpartition(":")[2])


def forget(estate: Estate, seqno: int, writer: str, donors: tuple[str, ...]) -> None:
    """Write until no donor caches what follows `seqno`, and some more that they do; bounded."""
    estate.sql(writer, BLOB)
    for _ in range(MOST):
        if all(status(estate, name, "wsrep_local_cached_downto") > seqno + 1 for name in donors):
            break
        estate.sql(writer, f"INSERT INTO sbtest.ballast (data) VALUES (REPEAT(RANDOM_BYTES(1024), {PIECE // 1024}))")
    else:
        raise AssertionError(f"the caches still go back to {seqno}")
    # A donor keeps a gap of a 128th of its cache before what it sends: writes that go on must not reach the target.
    estate.sql(writer, "INSERT INTO sbtest.ballast (data) VALUES ('');" * ROOM)
    estate.sql(writer, "TRUNCATE TABLE sbtest.ballast")


def away(estate: Estate, host: str, folder: str = LOGS) -> None:
    """Stop a member and keep its binary logs in a folder of its own."""
    script = (
        "systemctl stop mariadb && "
        f"rm -rf {folder} && mkdir -p {folder} && cp -p /var/lib/mysql/mysql-bin.[0-9]* {folder}/"
    )
    estate.host(host).sh(script, limit_s=120)


def bring_logs(estate: Estate, source: str, to: str, folder: str = LOGS) -> None:
    """Bring all binary logs of a member to another host, in the place of its own: too many for `carry_logs`."""
    listen = "timeout 200 socat -u TCP-LISTEN:4777,reuseaddr -"
    taken = f"rm -rf {folder} && mkdir -p {folder} && {listen} | tar -C {folder} -xf -"
    estate.host(to).sh(f"systemd-run --quiet --collect --unit=lab-logs bash -c '{taken}'; sleep 1")
    at = estate.spec.address(to)
    estate.host(source).sh(f"cd /var/lib/mysql && tar -cf - mysql-bin.[0-9]* | socat -u - TCP:{at}:4777", limit_s=200)
    estate.host(to).sh("for n in $(seq 300); do systemctl is-active -q lab-logs || break; sleep 0.2; done", limit_s=90)


def carry_logs(estate: Estate, source: str, to: str, folder: str = LOGS) -> None:
    """Bring a member's newest two binary logs to another host, as an operator does with scp."""
    script = "cd /var/lib/mysql && tail -n 2 mysql-bin.index | tar -czf - -T - | base64 -w0"
    packed = estate.host(source).sh(script, limit_s=120).out
    script = f"rm -rf {folder} && mkdir -p {folder} && base64 -d | tar -C {folder} -xzf -"
    estate.host(to).sh(script, stdin=packed, limit_s=120)
