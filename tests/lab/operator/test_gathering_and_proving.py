"""Facts and proofs on a real cluster: whole, a node stopped, emptied or killed, a start that fails, a closed way."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from services.clock import SystemClock
from services.inventory.model import ClusterEntry, Inventory
from services.procedures.catalogue import all_procedures
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.galera.bootstrap_after_crash.checks import unaccounted
from services.procedures.catalogue.galera.bootstrap_after_crash.party import party
from services.procedures.catalogue.galera.shared.estimate import donor_ranking
from services.procedures.catalogue.galera.shared.joining import names
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.galera.membership.no_primary import NoPrimary
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.conditions.machine.listening import Listening
from services.procedures.conditions.server.option import OptionIs
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.execute.live_hosts import LiveHosts
from services.procedures.gather.gather import gather
from services.procedures.plan.checks import Verdict
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.looks import Past
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.links import Links
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.remembering import Memory
from services.procedures.verify.prover import RealProver
from tests.lab.connections.connecting import LIMITS, entry, vault
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import on_this_machine

NODES = ("n1", "n2", "n3")
UNIT, DATADIR = "mariadb.service", "/var/lib/mysql"


class Looking:
    """One inventory of the estate, gathered and proven as a run would."""

    def __init__(self, estate: Estate, names: tuple[str, ...]) -> None:
        self.clock = SystemClock()
        self.inventory = Inventory(
            hosts=tuple(entry(estate, name) for name in names), clusters=(ClusterEntry("lab", names[:1], 3),)
        )
        self.hosts = LiveHosts(self.inventory.host, vault(estate), self.clock, limits=LIMITS)
        self.prover = RealProver(self.hosts, self.clock)
        self.past = Past({}, {"start": time.time()})

    def facts(self) -> Facts:
        needs = frozenset().union(*(procedure.about.needs for procedure in all_procedures()))
        found = gather(self.hosts, self.inventory, self.clock, needs=needs, operator=True)
        self.prover.facts = found
        return found

    def look(self, condition: Condition, memory: Memory | None = None) -> Answer:
        return self.prover.look(condition, self.past, memory or Memory())

    def until(self, condition: Condition, limit_s: float = 120.0) -> tuple[Answer, list[Answer]]:
        seen: list[Answer] = []
        deadline, memory = time.monotonic() + limit_s, Memory()
        while time.monotonic() < deadline:
            seen.append(self.look(condition, memory))
            if seen[-1].holds or seen[-1].final:
                return seen[-1], seen
            time.sleep(0.3)
        raise AssertionError([answer.evidence for answer in seen[-5:]])


@pytest.fixture
def looking(galera: Estate) -> Iterator[Looking]:
    made = Looking(galera, (*NODES, "spare"))
    yield made
    made.hosts.close()


def test_that_a_whole_cluster_is_gathered_with_its_spare_host(galera: Estate, looking: Looking) -> None:
    began = time.monotonic()
    facts = looking.facts()
    assert time.monotonic() - began < on_this_machine(15)
    assert (facts.cluster_name, facts.expected, facts.members, facts.candidates) == ("lab", 3, NODES, ("spare",))
    assert facts.cluster is not None
    assert facts.cluster.size == 3
    for name in NODES:
        host = facts.host(name)
        assert host.server_up
        assert (host.node_name, host[Unit].name) == (name, UNIT)
        assert (host[Unit].active_state, host[Unit].sub_state) == ("active", "running")
        assert host[Program].version[:2] == (10, 11)
        assert host[Options].option("mysqld", "wsrep_on") == "ON"
        assert host[Provider].option("gcache.size") is not None
        assert host[DataFolder].grastate is not None
        assert host[DataFolder].grastate.uuid == facts.cluster_id
        assert host[DataFolder].grastate.seqno == -1
        assert host[WriteRate].rates is not None
        assert host[Program].checked
        assert host[Program].fault == ""
        assert {"socat", "mbstream", "mariadb-backup"} <= set(host[Tools].there)
        assert [(li.to_host, li.port, li.outcome) for li in host[Links].tried] == [
            ("spare", 4567, "refused"), ("spare", 4444, "refused"), ("spare", 4568, "refused"),
        ]  # fmt: skip
    spare = facts.host("spare")
    assert spare.server_up is False
    assert spare[DataFolder].grastate_absent
    assert spare.is_root
    assert {(li.to_host, li.outcome) for li in spare[Links].tried if li.port == 4567} == {(n, "open") for n in NODES}
    assert "wsrep_sst_auth" in {o for _, o, _ in facts.host("n1")[Options].given}
    for secret in galera.environment().values():
        assert secret not in repr(facts)


def test_that_a_whole_cluster_passes_the_shared_checks(looking: Looking) -> None:
    facts = looking.facts()
    checks = (
        preflight.health_gate(facts, NODES), preflight.no_transfer_or_ddl(facts, NODES),
        preflight.versions(facts, "spare", NODES), *preflight.foreign_provider(facts, NODES),
        *preflight.ports(facts, "spare", NODES), *preflight.sst_tools(facts, ("n1", "spare")),
        preflight.sst_section(facts, NODES), *preflight.donor_names(facts, NODES),
        *preflight.sst_orphans(facts, NODES), *preflight.config_valid(facts, (*NODES, "spare")),
        *preflight.operator_rights(facts, NODES), preflight.lock_free(facts, NODES), preflight.clocks(facts, NODES),
        preflight.datadir_foreign(facts, "spare"), names(facts, "spare", "spare", "n1", NODES),
        unaccounted(party(facts, NODES, ())),
    )  # fmt: skip
    assert [(k.code, k.evidence) for k in checks if k.verdict is not Verdict.PASS] == []


def test_that_a_stopped_node_is_gathered_over_ssh_alone_and_returns_by_ist(galera: Estate, looking: Looking) -> None:
    whole = looking.facts()
    uuid = whole.cluster_id
    # A seqno counts where the node's own log accounts for it: with no Xid there its server would be asked first.
    galera.sql("n1", "CREATE OR REPLACE TABLE sbtest.told (id INT PRIMARY KEY); INSERT INTO sbtest.told VALUES (1)")
    galera.stop("n3")
    facts = looking.facts()
    host = facts.host("n3")
    assert "n3" in facts.members
    assert (host.server_up, host[Unit].active_state, host[Unit].sub_state) == (False, "inactive", "dead")
    assert host[DataFolder].grastate is not None
    assert host[DataFolder].grastate.seqno is not None
    assert host[DataFolder].grastate.seqno >= 0
    assert host[Options].files
    assert host[DataSize].in_bytes
    donors = donor_ranking(facts, "n3")
    assert {d.host for d in donors if d.ist} == {"n1", "n2"}
    assert preflight.health_gate(facts, NODES).verdict is Verdict.BLOCK

    assert looking.look(Stopped("n3", UNIT)).holds
    clean = looking.look(CleanPosition("n3", DATADIR, uuid, keep="stopped-n3"))
    assert clean.holds
    assert clean.kept == (("stopped-n3", str(host[DataFolder].grastate.seqno)),)
    assert looking.look(ClusterWhole(("n1", "n2"), 2, uuid)).holds
    assert looking.look(StillPrimary(("n1", "n2"), 2, uuid)).holds
    assert looking.look(NoPrimary(("n3",))).holds
    gone = looking.look(Joined("n3", uuid, UNIT))
    assert gone.holds is False

    looking.past = Past({}, {"start": time.time()})
    galera.start("n3", wait=False)
    looking.until(Joined("n3", uuid, UNIT))
    came, _ = looking.until(TransferWas("n3", "IST", "", "start"), 20)
    assert came.holds, came
    assert looking.look(TransferWas("n3", "SST", "", "start")).final
    assert looking.look(ClusterWhole(NODES, 3, uuid)).holds


@pytest.mark.long
def test_that_an_emptied_node_is_seen_to_come_by_sst_with_progress(galera: Estate, looking: Looking) -> None:
    uuid = looking.facts().cluster_id
    galera.stop("n3")
    galera.empty("n3")
    looking.past = Past({}, {"start": time.time()})
    galera.start("n3", wait=False)
    done, seen = looking.until(Joined("n3", uuid, UNIT))
    assert done.holds, done
    copied = [a for a in seen if a.unit == "bytes"]
    assert copied, [a.evidence for a in seen]
    assert all(a.total for a in copied)
    came, _ = looking.until(TransferWas("n3", "SST", "", "start"), 20)
    assert came.holds, came
    wrong = looking.look(TransferWas("n3", "IST", "", "start"))
    assert (wrong.holds, wrong.final) == (False, True)


def test_that_a_killed_node_has_no_clean_position_and_a_cluster_down_is_known_by_its_disks(
    galera: Estate, looking: Looking
) -> None:
    uuid = looking.facts().cluster_id
    for name in NODES:
        galera.kill9(name)
    for name in NODES:
        galera.host(name).sh(f"systemctl stop {UNIT}", limit_s=60, check=False)
    facts = looking.facts()
    assert (facts.cluster_id, facts.members, facts.cluster) == (uuid, NODES, None)
    assert looking.look(NoPrimary(NODES)).holds
    for name in NODES:
        answer = looking.look(CleanPosition(name, DATADIR, uuid))
        assert answer.holds is False
        assert "not known" in answer.evidence


@pytest.mark.long
def test_that_a_start_that_fails_at_its_options_is_final_and_found_by_the_check(
    galera: Estate, looking: Looking
) -> None:
    uuid = looking.facts().cluster_id
    galera.stop("n3")
    path = "/etc/mysql/mariadb.conf.d/99-wrong.cnf"
    galera.host("n3").sh(f"printf '[mysqld]\\nno_such_option = 1\\n' > {path}")
    try:
        check = preflight.config_valid(looking.facts(), ("n3",))[0]
        assert check.verdict is Verdict.BLOCK
        assert "no_such_option" in check.evidence
        assert looking.look(OptionIs("n3", "mysqld", "no-such-option", "1")).holds
        galera.host("n3").sh(f"systemctl start {UNIT}", limit_s=60, check=False)
        answer, _ = looking.until(Joined("n3", uuid, UNIT), 30)
        assert (answer.holds, answer.final) == (False, True)
        assert "failed" in answer.evidence
    finally:
        galera.host("n3").sh(f"rm -f {path}; systemctl reset-failed {UNIT}", check=False)


def test_that_a_filtered_way_is_told_from_a_refused_one(galera: Estate, looking: Looking) -> None:
    address = galera.addresses["n1"]
    assert looking.look(Listening("spare", address, 4567)).holds
    refused = looking.look(Listening("spare", address, 4444))
    assert refused.holds is False
    assert "refused" in refused.evidence
    silent = looking.look(Listening("spare", "10.213.1.250", 4444))
    assert silent.holds is False
    assert "filtered" in silent.evidence
