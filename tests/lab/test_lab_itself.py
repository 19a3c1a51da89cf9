"""The lab proves itself: an estate is what it says it is, nothing is left behind. Its faults: test_lab_faults.py."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from tests.lab.asking_hosts import server_states, ssh
from tests.lab.estate.errors import LabTimeoutError
from tests.lab.estate.estate import Estate
from tests.lab.estate.host import network
from tests.lab.estate.host.mirrors import debian_mirror
from tests.lab.estate.leftovers import leftovers
from tests.lab.estate.spec import ESTATES
from tests.lab.estate.waiting import wait_until, while_asserts

LAB = str(Path(__file__).resolve().parents[2] / "packaging" / "lab.py")
MEMBERS = ("n1", "n2", "n3")


# ------------------------------------------------------------------------------------------------ names and notes
def test_that_every_interface_name_fits_into_the_fifteen_characters_linux_allows() -> None:
    names = [s.bridge for s in ESTATES] + [network.tap(s, h.name) for s in ESTATES for h in s.hosts]
    assert {name: len(name) for name in names if len(name) > 15} == {}
    assert len(set(names)) == len(names)


def test_that_the_mirror_is_taken_from_either_form_of_the_machines_apt_sources(tmp_path: Path) -> None:
    folder = tmp_path / "sources.list.d"
    folder.mkdir()
    other = "Types: deb\nURIs: https://other.example/x\nSuites: bookworm\nComponents: contrib\n"
    suites = "Suites: bookworm bookworm-updates\nComponents: main\n"
    wanted = f"# a note\nTypes: deb\nURIs: http://mirror.example/debian\n{suites}"
    (folder / "debian.sources").write_text(f"{other}\n{wanted}", encoding="utf-8")
    assert debian_mirror(tmp_path, "bookworm") == "http://mirror.example/debian"
    assert debian_mirror(tmp_path, "trixie") is None
    line = (
        "deb-src http://no.example/ bookworm main\ndeb [arch=amd64] http://old.example/debian bookworm main contrib\n"
    )
    (tmp_path / "sources.list").write_text(line, encoding="utf-8")
    assert debian_mirror(tmp_path, "bookworm") == "http://old.example/debian"


def test_that_a_wait_which_runs_out_says_the_last_reason() -> None:
    with pytest.raises(LabTimeoutError, match=r"waited .* s for tea; last reason: the water is cold"):
        wait_until("tea", lambda: "the water is cold", limit_s=0.05, every_s=0.01)
    with pytest.raises(LabTimeoutError, match="two is not three"):
        while_asserts(_two_is_three, limit_s=0.05, every_s=0.01)


def _two_is_three() -> None:
    raise AssertionError("two is not three")


# ------------------------------------------------------------------------------------------------ the galera estate
def test_that_up_of_an_estate_that_is_up_changes_nothing(galera: Estate) -> None:
    before = {
        n: galera.host(n).sh("cat /proc/1/stat | cut -d' ' -f22; pgrep -x mariadbd", check=False).out for n in MEMBERS
    }
    done = subprocess.run([sys.executable, LAB, "up", "galera"], capture_output=True, text=True, timeout=60, check=True)
    assert "is up already" in done.stderr
    after = {
        n: galera.host(n).sh("cat /proc/1/stat | cut -d' ' -f22; pgrep -x mariadbd", check=False).out for n in MEMBERS
    }
    assert after == before


def test_that_three_members_are_synced_and_the_spare_has_no_cluster_and_no_running_server(galera: Estate) -> None:
    galera.wait_synced(limit_s=10, size=3)
    assert server_states(galera) == {**dict.fromkeys(MEMBERS, "Synced, Primary of 3"), "spare": "stopped"}
    assert galera.host("spare").sh("grep -rl ^wsrep /etc/mysql", check=False).out == ""
    assert galera.host("spare").sh("mariadbd --version").out.startswith("mariadbd")


def test_that_status_as_json_names_every_host_with_its_state(galera: Estate) -> None:
    argv = [sys.executable, LAB, "status", "galera", "--json"]
    said = json.loads(subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout)
    assert said["up"] is True
    assert [h["name"] for h in said["hosts"]] == [*MEMBERS, "spare"]
    assert said["hosts"][0]["server"] == "Synced, Primary of 3"
    assert all(h["faults"] == [] for h in said["hosts"])


def test_that_the_inventory_has_one_seed_and_no_secret_in_it(galera: Estate) -> None:
    text = (galera.client_dir / "inventory.toml").read_text(encoding="utf-8")
    inventory = tomllib.loads(text)
    assert [h["name"] for h in inventory["host"]] == ["n1"]
    assert inventory["cluster"] == [{"name": "galera", "seeds": ["n1"], "networks": ["10.213.1.0/24"]}]
    assert inventory["host"][0]["sql"]["password"] == "env:PILOTHOUSE_LAB_OBSERVER_PASSWORD"
    every = tomllib.loads((galera.client_dir / "inventory-all.toml").read_text(encoding="utf-8"))
    assert {h["name"]: h["address"] for h in every["host"]} == galera.addresses
    assert not [v for v in galera.environment().values() if v in text]


def test_that_sudo_asks_the_one_user_for_a_password_and_not_the_other(galera: Estate) -> None:
    assert ssh(galera, "n1", "sudo -n id -u").stdout == "0\n"
    refused = ssh(galera, "n1", "sudo -n id -u", user="dbapw")
    assert refused.returncode != 0
    assert "password is required" in refused.stderr
    password = galera.environment()["PILOTHOUSE_LAB_SUDO_PASSWORD"]
    assert ssh(galera, "n1", "sudo -S -p '' id -u", user="dbapw", stdin=f"{password}\n").stdout == "0\n"
    assert ssh(galera, "n1", "id -u", user="root").stdout == "0\n"


def test_that_the_encrypted_key_is_accepted_and_needs_its_passphrase(galera: Estate, tmp_path: Path) -> None:
    key = galera.client_dir / "id_encrypted"
    argv = ["ssh-keygen", "-y", "-P", "", "-f", str(key)]
    assert subprocess.run(argv, capture_output=True, timeout=10, check=False).returncode != 0
    ask = tmp_path / "ask"
    ask.write_text('#!/bin/sh\necho "$PILOTHOUSE_LAB_KEY_PASSPHRASE"\n', encoding="utf-8")
    ask.chmod(0o700)
    known = galera.client_dir / "known_hosts"
    argv = ["ssh", "-i", str(key), "-o", "IdentitiesOnly=yes", "-o", f"UserKnownHostsFile={known}"]
    env = {**os.environ, "SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force"}
    argv += [f"dba@{galera.addresses['n1']}", "hostname"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=15, check=False)
    assert (done.stdout, done.returncode) == ("n1\n", 0), done.stderr


def test_that_the_observer_may_read_the_status_and_change_nothing(galera: Estate) -> None:
    pymysql = pytest.importorskip("pymysql")
    password = galera.environment()["PILOTHOUSE_LAB_OBSERVER_PASSWORD"]
    tls = {"ca": str(galera.client_dir / "ca.pem"), "check_hostname": True}
    with pymysql.connect(host=galera.addresses["n1"], user="observer", password=password, ssl=tls) as connection:
        cursor = connection.cursor()
        for readable in (
            "SHOW GLOBAL STATUS",
            "SHOW REPLICA STATUS",
            "SHOW BINARY LOGS",
            "SHOW ENGINE INNODB STATUS",
            "SELECT * FROM mysql.wsrep_cluster_members",
            "SELECT * FROM information_schema.INNODB_METRICS",
        ):
            cursor.execute(readable)
        for forbidden in ("SET GLOBAL max_connections = 7", "CREATE DATABASE x", "SELECT * FROM mysql.global_priv"):
            with pytest.raises(pymysql.err.OperationalError):
                cursor.execute(forbidden)


# ------------------------------------------------------------------------------------------------ leaving nothing
@pytest.mark.timeout(300)
def test_that_down_removes_everything_also_after_the_lab_was_killed_half_way(lab_available: None) -> None:
    estate = Estate("two-versions")
    was_up = estate.is_up()
    estate.down()
    for pause_s in (0.25, 0.6, 1.0):
        running = subprocess.Popen([sys.executable, LAB, "up", "two-versions"], stderr=subprocess.DEVNULL)
        time.sleep(pause_s)
        running.send_signal(signal.SIGKILL)
        running.wait(timeout=10)
        estate.down()
        assert leftovers((estate.spec,)) == []
    estate.down()  # of an estate that is down: nothing to do, no complaint
    if was_up:
        estate.up()
