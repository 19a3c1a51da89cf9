"""The lab's faults are real, and each is undone by its inverse."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from tests.lab.asking_hosts import server_states, ssh
from tests.lab.estate import status
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import load
from tests.lab.estate.waiting import wait_until, while_asserts

MEMBERS = ("n1", "n2", "n3")


def ping_ms(estate: Estate, source: str, target: str) -> float:
    """Average round-trip time between two hosts in ms."""
    out = estate.host(source).sh(f"ping -c 3 -i 0.2 -W 2 {target}").out
    return float(out.rsplit("=", 1)[1].split("/")[1])


@pytest.mark.long
def test_that_a_killed_member_stays_dead_until_it_is_started(galera: Estate) -> None:
    galera.kill9("n2")
    wait_until("the others to drop it", lambda: _size_not(galera, "n1", "2"), limit_s=30)
    time.sleep(6)  # longer than RestartSec of the package's unit
    assert server_states(galera)["n2"] == "stopped"
    galera.start("n2")
    galera.wait_synced(limit_s=60, size=3)


def _size_not(estate: Estate, host: str, wanted: str) -> str | None:
    size = estate.sql(host, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'")[0][1]
    return None if size == wanted else f"{host} sees {size} members"


@pytest.mark.long
def test_that_an_emptied_member_returns_by_a_full_transfer(galera: Estate) -> None:
    galera.sql("n1", "CREATE OR REPLACE TABLE sbtest.mark (id INT PRIMARY KEY); INSERT INTO sbtest.mark VALUES (7)")
    galera.empty("n3")
    assert galera.host("n3").sh("ls -A /var/lib/mysql").out == ""
    galera.start("n3")
    galera.wait_synced(limit_s=120, size=3)
    assert galera.sql("n3", "SELECT id FROM sbtest.mark") == [["7"]]
    journal = galera.host("n3").sh("journalctl -u mariadb -o cat --no-pager").out
    assert "SST received" in journal or "SST complete" in journal


def test_that_a_partitioned_member_loses_quorum_while_the_console_still_reaches_it(galera: Estate) -> None:
    galera.partition(["n1"])
    assert galera.faults("n1") == ("partitioned",)

    def parted() -> None:
        states = server_states(galera)
        assert states["n1"] == "Initialized, non-Primary of 1", states
        assert states["n2"] == states["n3"] == "Synced, Primary of 2", states

    while_asserts(parted, limit_s=40)
    assert ssh(galera, "n1", "hostname").stdout == "n1\n"
    assert galera.host("n1").sh("ping -c 1 -W 1 n2", check=False).code != 0
    galera.heal()
    galera.wait_synced(limit_s=60, size=3)
    assert galera.faults("n1") == ()


@pytest.mark.long
def test_that_a_cut_host_is_reached_by_nobody(galera: Estate) -> None:
    galera.cut(["n3"])
    with pytest.raises(OSError, match=r"timed out|No route to host|unreachable"):
        socket.create_connection((galera.addresses["n3"], 22), timeout=1.5)
    assert galera.host("n3").sh("ping -c 1 -W 1 n1", check=False).code != 0
    assert galera.faults("n3") == ("cut",)
    galera.heal()
    wait_until("sshd of n3", lambda: None if ssh(galera, "n3", "true").returncode == 0 else "no ssh", limit_s=20)


@pytest.mark.long
def test_that_a_slow_wire_adds_its_delay_and_bounds_the_rate_and_heals(galera: Estate) -> None:
    assert ping_ms(galera, "n1", "n2") < 20
    galera.slow("n2", delay_ms=120, rate_kbit=8000)
    assert 118 < ping_ms(galera, "n1", "n2") < 180
    start = time.monotonic()
    assert len(ssh(galera, "n2", "head -c 1500000 /dev/zero | base64", limit_s=60).stdout) > 1_500_000
    assert time.monotonic() - start > 2.0 * 8 / 8  # two megabytes of base64 at eight megabits a second
    assert galera.faults("n2") == ("slow (+120 ms round trip, 8000 kbit/s)",)
    galera.heal()
    assert ping_ms(galera, "n1", "n2") < 20


@pytest.mark.long
def test_that_a_lossy_wire_loses_frames(galera: Estate) -> None:
    galera.slow("spare", loss_percent=40)
    out = galera.host("spare").sh("ping -c 60 -i 0.02 -W 1 n1", check=False).out
    received = int(out.split(" received")[0].rsplit(" ", 1)[1])
    assert 3 <= received <= 45, out  # 36 % of 60 get through both ways; the bounds are five deviations away


@pytest.mark.long
def test_that_a_partition_also_holds_for_a_host_behind_a_slow_wire(galera: Estate) -> None:
    galera.slow("spare", delay_ms=10)
    galera.partition(["spare"])
    assert galera.host("spare").sh("ping -c 1 -W 1 n1", check=False).code != 0
    assert ssh(galera, "spare", "hostname").stdout == "spare\n"


def test_that_a_full_disk_is_full_for_one_host_only(galera: Estate) -> None:
    galera.fill("n3")
    wrote = galera.host("n3").sh("dd if=/dev/zero of=/var/lib/mysql/probe bs=1M count=64", check=False)
    assert "No space left on device" in wrote.err
    assert galera.host("n3").sh("echo x > /root/elsewhere").ok
    assert int(galera.host("n2").sh("df --output=avail -B1M /var/lib/mysql | tail -1").out) > 1000
    galera.unfill("n3")
    assert int(galera.host("n3").sh("df --output=avail -B1M /var/lib/mysql | tail -1").out) > 1000


@pytest.mark.long
def test_that_a_paused_server_keeps_its_connections_and_answers_nobody(galera: Estate) -> None:
    galera.pause("n2")
    assert galera.faults("n2") == ("paused",)
    with socket.create_connection((galera.addresses["n2"], 3306), timeout=3) as talk:
        talk.settimeout(1.5)
        with pytest.raises(TimeoutError):
            talk.recv(1)
    galera.resume("n2")
    galera.wait_synced(limit_s=60, size=3)


@pytest.mark.long
def test_that_a_frozen_host_answers_pings_and_nothing_else(galera: Estate) -> None:
    galera.freeze("spare")
    assert galera.host("n1").sh("ping -c 1 -W 1 spare").ok
    assert "Connection timed out" in ssh(galera, "spare", "true").stderr
    assert galera.faults("spare") == ("frozen",)
    galera.thaw("spare")
    assert ssh(galera, "spare", "hostname").stdout == "spare\n"


@pytest.mark.long
def test_that_a_throttled_node_makes_all_others_wait(galera: Estate) -> None:
    def paused() -> int:
        return int(galera.sql("n1", "SHOW STATUS LIKE 'wsrep_flow_control_paused_ns'")[0][1])

    galera.load_start(load.Load(seconds=40, rate=60, threads=8), ["n1"])
    before = paused()
    galera.throttle("n3", 1)
    assert galera.faults("n3") == ("throttled to 1 %",)
    while_asserts(lambda: _grown(paused() - before), limit_s=20)
    galera.unthrottle("n3")
    assert galera.faults("n3") == ()


def _grown(nanoseconds: int) -> None:
    assert nanoseconds > 100_000_000, f"the group was paused for {nanoseconds} ns only"


@pytest.mark.long
def test_that_a_skewed_host_shows_the_wrong_time_by_ssh_by_sudo_and_by_sql(galera: Estate) -> None:
    galera.skew("n2", -7200)
    for command in ("date +%s", "sudo date +%s", "sudo mariadb -N -e 'SELECT UNIX_TIMESTAMP()'"):
        shown = int(ssh(galera, "n2", command).stdout)
        assert abs(shown - (time.time() - 7200)) < 10, command
    assert abs(int(ssh(galera, "n1", "date +%s").stdout) - time.time()) < 10
    galera.wait_synced(limit_s=60, size=3)
    galera.skew("n2", 0)
    assert abs(int(ssh(galera, "n2", "date +%s").stdout) - time.time()) < 10


def test_that_a_stopped_sshd_refuses_new_sessions_only(galera: Estate) -> None:
    galera.sshd_stop("n2")
    assert "Connection refused" in ssh(galera, "n2", "true").stderr
    assert galera.faults("n2") == ("sshd stopped",)
    galera.sshd_start("n2")
    assert ssh(galera, "n2", "true").returncode == 0


@pytest.mark.long
def test_that_a_host_rebooted_from_inside_comes_back_with_its_database_down(galera: Estate) -> None:
    before = galera.host("n3").sh("cut -d' ' -f22 /proc/1/stat").out
    ssh(galera, "n3", "sudo systemctl reboot --no-block")

    def back() -> None:
        done = galera.host("n3").sh("cut -d' ' -f22 /proc/1/stat", check=False)
        assert done.ok
        assert done.out != before
        assert ssh(galera, "n3", "hostname").stdout == "n3\n"

    def reason() -> str | None:
        try:
            back()
        except LabError as exc:
            return str(exc)
        return None

    wait_until("n3 to be back", reason, limit_s=60)
    assert server_states(galera)["n3"] == "stopped"
    galera.start("n3")
    galera.wait_synced(limit_s=60, size=3)


def test_that_undo_forms_the_cluster_again_after_all_members_were_killed(galera: Estate) -> None:
    galera.sql("n1", "CREATE OR REPLACE TABLE sbtest.kept (id INT PRIMARY KEY); INSERT INTO sbtest.kept VALUES (1)")
    for name in MEMBERS:
        galera.kill9(name)
    galera.undo()
    galera.wait_synced(limit_s=10, size=3)
    assert [galera.sql(n, "SELECT id FROM sbtest.kept") for n in MEMBERS] == [[["1"]]] * 3


@pytest.mark.long
def test_that_a_load_is_bounded_ends_by_itself_and_shows_no_password_on_its_command_line(galera: Estate) -> None:
    pid = galera.load_start(load.Load(seconds=4, rate=20, rows=1000, tables=2))
    argv = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    assert galera.environment()["PILOTHOUSE_LAB_SYSBENCH_PASSWORD"] not in argv
    with pytest.raises(LabError, match="a load runs already"):
        galera.load_start()
    wait_until("the end of the load", lambda: None if load.running(galera.spec) is None else "it runs", limit_s=20)
    assert int(galera.sql("n2", "SHOW GLOBAL STATUS LIKE 'wsrep_received'")[0][1]) > 20
    assert "tps" in load.last_report(galera.spec)


# ------------------------------------------------------------------------------------------------ the other estates
@pytest.mark.long
def test_that_a_delayed_replica_stays_behind_until_it_is_repaired(replication: Estate) -> None:
    replication.delay("r1", 30)
    replication.sql("src", "CREATE OR REPLACE TABLE sbtest.late (id INT)")
    time.sleep(2)
    assert replication.sql("r1", "SHOW TABLES FROM sbtest LIKE 'late'") == []
    assert replication.sql("r2", "SHOW TABLES FROM sbtest LIKE 'late'") == [["late"]]
    replication.repair("r1")
    assert replication.sql("r1", "SHOW TABLES FROM sbtest LIKE 'late'") == [["late"]]


@pytest.mark.long
def test_that_each_thread_of_a_replica_can_be_broken_and_repaired(replication: Estate) -> None:
    replication.break_sql("r1")
    assert "IO Yes, SQL No" in server_states(replication)["r1"]
    replication.break_io("r2")
    while_asserts(lambda: _shows(replication, "r2", "IO Connecting, SQL Yes"), limit_s=20)
    replication.undo()
    for name in ("r1", "r2"):
        assert server_states(replication)[name] == "replica, IO Yes, SQL Yes, 0 s behind, delay 0 s"
    rows = [replication.sql(n, "SELECT * FROM sbtest.lab_probe ORDER BY id") for n in ("src", "r1", "r2")]
    assert rows[0] == rows[1] == rows[2]


def _shows(estate: Estate, host: str, text: str) -> None:
    state = server_states(estate)[host]
    assert text in state, state


def test_that_the_newer_version_replicates_from_the_older_one(two_versions: Estate) -> None:
    hosts = {h.name: h for h in status.estate_status(two_versions).hosts}
    assert hosts["old"].version.startswith("10.11.")
    assert hosts["new"].version.startswith("11.8.")
    assert hosts["new"].server.startswith("replica, IO Yes, SQL Yes")
