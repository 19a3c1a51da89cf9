"""A split brain on real servers: seen, named, remembered by every later console, and settled only by a person."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from services.discovery.model import NOT_SETTLED, TWO_PRIMARIES
from services.history.state.store import StateStore
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts

EVERY_HOST = "inventory-all.toml"
ROOT = Path(__file__).resolve().parents[2]


class ProcedureService:
    """A workstation: each command is a process of its own on one data folder."""

    def __init__(self, estate: Estate, data: Path) -> None:
        self._estate = estate
        self.data = data

    def run(
        self, *words: str, hosts: str = "inventory.toml", limit_s: float = 240.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        inventory = str(self._estate.client_dir / hosts)
        command = [sys.executable, "-m", "app", *words, "--inventory", inventory, "--data", str(self.data)]
        environment = {**os.environ, **self._estate.environment()}
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit_s, check=False
        )

    def codes(self) -> list[str]:
        """Return the codes of the problems that `check` tells of the cluster; with one it must end with exit code 1."""
        ran = self.run("check", "--json")
        (cluster,) = json.loads(ran.stdout)["clusters"]
        found = [problem["code"] for problem in cluster["problems"]]
        assert not found or ran.returncode == 1, ran
        return found


def status(estate: Estate, host: str, name: str) -> str:
    ((_, value),) = estate.sql(host, f"SHOW GLOBAL STATUS LIKE '{name}'")
    return value


def document(ran: subprocess.CompletedProcess[str]) -> Any:
    assert ran.stdout, ran
    return json.loads(ran.stdout)


def _both_are_shown(topology: str) -> None:
    assert topology.count("Primary component: ") == 2
    assert "Two primary components with the same state UUID: n1 and n2; n3" in topology


@pytest.mark.timeout(400)
def test_that_two_primaries_are_named_while_they_last_and_told_until_a_person_settles_them(
    galera: Estate, tmp_path: Path
) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    first = ProcedureService(galera, tmp_path)
    assert first.codes() == []
    try:
        galera.partition(["n3"])
        while_asserts(lambda: _is(status(galera, "n3", "wsrep_cluster_status"), "non-Primary"), limit_s=60)
        assert TWO_PRIMARIES not in first.codes()  # a partition is no split brain
        galera.sql("n3", "SET GLOBAL wsrep_provider_options='pc.bootstrap=YES'")
        while_asserts(lambda: _is(first.codes(), [TWO_PRIMARIES]), limit_s=30)
        while_asserts(lambda: _both_are_shown(first.run("topology").stdout), limit_s=60)  # a busy host answers late
    finally:
        galera.empty("n3")
        galera.heal()
    galera.start("n3")  # by SST: both sides are one again, and what n3 had alone is gone
    galera.wait_synced(["n1", "n2", "n3"])
    later = ProcedureService(galera, tmp_path)
    assert later.codes() == [NOT_SETTLED]
    assert ProcedureService(galera, tmp_path / "other").codes() == []  # who never saw it can't tell
    (story,) = document(later.run("settle", "--json"))
    assert story["sides"] == [["n1", "n2"], ["n3"]]
    name = story["cluster"]
    assert later.run("settle", name, "--yes").returncode == 2
    assert later.codes() == [NOT_SETTLED]
    assert later.run("settle", name, "--yes", "--reason", "n3 was emptied").returncode == 0
    assert later.codes() == []
    (settled,) = document(later.run("settle", "--json"))
    assert settled["settled_words"] == "n3 was emptied"


@pytest.mark.long
@pytest.mark.timeout(400)
def test_that_a_position_recovered_in_one_run_is_known_to_the_next_console(galera: Estate, tmp_path: Path) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    service = ProcedureService(galera, tmp_path)
    galera.kill9("n3")
    galera.wait_synced(["n1", "n2"], size=2, limit_s=60)  # before they have dropped it the group is not whole: refused
    ran = service.run(
        "run", "add-node", "--yes", "--json", "--input", "joiner=n3", "--input", "settle=1 s", hosts=EVERY_HOST
    )
    told = document(ran)
    assert told.get("state") == "done", json.dumps(told.get("checks"), indent=1)
    with StateStore.open(tmp_path / "state.sqlite") as state:
        found = {memory.source: memory for memory in state.positions("n3")}
    uuid = status(galera, "n1", "wsrep_cluster_state_uuid")
    assert (found["recovered"].cluster_uuid, found["recovered"].read_by) == (uuid, "run 1")
    assert found["recovered"].seqno > 0
    assert found["running"].seqno >= found["recovered"].seqno


@pytest.mark.long
@pytest.mark.timeout(200)
def test_that_a_new_host_with_a_leftover_of_a_bootstrap_is_not_started(galera: Estate, tmp_path: Path) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    path = "/etc/mysql/mariadb.conf.d/98-left.cnf"
    words = ("plan", "add-node", "--json", "--input", "joiner=spare", "--override", "JOINS-OTHERS=only a test")
    try:
        galera.host("spare").sh(f"cat > {path}", stdin="[mysqld]\nwsrep_new_cluster=1\n")
        founding = document(ProcedureService(galera, tmp_path).run(*words, hosts=EVERY_HOST))
        galera.host("spare").sh(f"cat > {path}", stdin="[galera]\nwsrep_cluster_address=\n")
        emptied = document(ProcedureService(galera, tmp_path).run(*words, hosts=EVERY_HOST))
    finally:
        galera.host("spare").sh(f"rm -f {path}")
    assert "JOINS-OTHERS" in founding["refused"]
    assert "JOINS-OTHERS" in emptied["refused"]
    calm = document(ProcedureService(galera, tmp_path).run(*words[:-2], hosts=EVERY_HOST))
    assert "JOINS-OTHERS" not in calm["refused"]


def _is(found: object, wanted: object) -> None:
    assert found == wanted
