"""Encrypting state transfers: what the plan is, what is refused, and that no join is let through in between."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.facts.transfer.certificate_files import parse_pair
from services.facts.transfer.certificates import PairSeen
from services.facts.transfer.sst_options import Place
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.encrypt_sst.checks import ALIKE
from services.procedures.plan.actions import EditOptions, PutPair
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.pair_sources import HostPair, LocalPair, MadePair
from services.procedures.plan.run_model import RunState
from services.types import Flavour
from tests.faults.cases import CASES
from tests.faults.scripted.cluster import Cluster
from tests.unit.pairs import DAY, NOW, PATHS, Authority, told
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, UUID, WARN, facts, galera, host
from tests.unit.procedures.host_of import changed

PROCEDURE = procedure_named("encrypt-sst")
CA = Authority()
CERT, KEY = CA.pair()


def pair(text: str = "", paths: tuple[str, str, str] = PATHS) -> PairSeen | None:
    return parse_pair(text or told(CA.pem, CERT, KEY), paths)


def ready(name: str, *given: tuple[str, str, str], **more: Any) -> HostFacts:
    values = {
        "address": f"10.0.0.{name[1:]}", "drop_ins_files": (), "sst_options_known": True, "sst_options_given": given,
        "sst_options_places": tuple(Place("/etc/a.cnf", g, o, v, n) for n, (g, o, v) in enumerate(given)),
        "transfer_pairs_socat": "1.7.4.4", "transfer_pairs_speaks_tls": True, "transfer_pairs_any_name": True,
        "transfer_pairs_folder": False, "transfer_pairs_own": pair(),
    }  # fmt: skip
    return host(name, **(values | more))


def seen(*changed: HostFacts) -> Facts:
    own = {one.host: one for one in changed}
    return replace(facts(*(own.get(name, ready(name)) for name in NAMES)), at=NOW, cluster_name="orders")


def plan_of(known: Facts, **inputs: str) -> Plan:
    given: Inputs = dict(inputs)
    assert PROCEDURE.faults(known, given) == ()
    plan = PROCEDURE.plan(known, given)
    assert violations(plan) == ()
    return plan


def checks_of(known: Facts, code: str, **inputs: str) -> tuple[Check, ...]:
    return tuple(c for c in PROCEDURE.preflight(known, dict(inputs)) if c.code == code)


def worst(known: Facts, code: str, **inputs: str) -> Verdict:
    order = (PASS, WARN, BLOCK)
    return max((c.verdict for c in checks_of(known, code, **inputs)), key=order.index)


def test_that_all_is_ready_and_proven_on_every_node_before_the_first_option_is_changed() -> None:
    plan = plan_of(seen())
    assert [step.step_id for step in plan.steps] == [
        "pair-n1", "pair-n2", "pair-n3", "hold-n1", "hold-n2", "hold-n3", "nobody-joins",
        "listen-n1", "listen-n2", "listen-n3", "try-n1", "try-n2", "try-n3",
        "foreign-on", "foreign-refused", "foreign-off", "unlisten-n1", "unlisten-n2", "unlisten-n3",
        "section-n1", "section-n2", "section-n3", "same", "let-n1", "let-n2", "let-n3", "whole",
    ]  # fmt: skip
    assert all(PROCEDURE.preflight(seen(), {})[n].verdict is not BLOCK for n in range(10))


def test_that_the_pair_is_made_once_and_the_others_get_copies_of_it() -> None:
    puts = [step.action for step in plan_of(seen(), days="90").steps if step.step_id.startswith("pair-")]
    assert all(isinstance(put, PutPair) for put in puts)
    assert [put.source for put in puts if isinstance(put, PutPair)] == [
        MadePair("orders", 90), HostPair("n1"), HostPair("n1")
    ]  # fmt: skip
    files = plan_of(seen(), source="files", ca_file="/a", cert_file="/b", key_file="/c")
    assert files.steps[0].step_id == "files"
    first = files.step("pair-n1").action
    assert isinstance(first, PutPair)
    assert first.source == LocalPair("/a", "/b", "/c")


def test_that_the_servers_own_certificates_are_used_by_leaving_the_old_options_out() -> None:
    plan = plan_of(seen(), source="servers")
    edit = plan.step("section-n2").action
    assert isinstance(edit, EditOptions)
    assert edit.options == (("encrypt", "4"), ("tca", None), ("tcapath", None), ("tcert", None), ("tkey", None))
    assert not any(isinstance(step.action, PutPair) for step in plan.steps if step.step_id != "foreign-on")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"source": "files"}, "is needed"),
        ({"source": "files", "ca_file": "a", "cert_file": "/b", "key_file": "/c"}, "absolute path"),
        ({"days": "0"}, "Enter 1 to"),
        ({"days": "99999"}, "Enter 1 to"),
        ({"renew": "-1"}, "Enter 0 to"),
        ({"source": "x"}, ""),
    ],
)
def test_that_inputs_that_make_no_sense_are_faults(values: dict[str, str], sentence: str) -> None:
    assert any(sentence in fault.sentence for fault in PROCEDURE.faults(seen(), values))


# -- nothing to do, and renewal ----------------------------------------------------------------------------------------


def encrypted(name: str, text: str = "") -> HostFacts:
    given = (("sst", "encrypt", "4"), ("sst", "tca", PATHS[0]), ("sst", "tcert", PATHS[1]), ("sst", "tkey", PATHS[2]))
    return ready(name, *given, transfer_pairs_used=pair(text))


def test_that_transfers_that_are_encrypted_so_leave_nothing_to_do_until_the_end_comes_near() -> None:
    known = seen(*(encrypted(name) for name in NAMES))
    assert plan_of(known).nothing_to_do
    assert "valid for 99 days" in checks_of(known, "TLS-PAIR")[0].evidence
    assert not plan_of(known, renew="101").nothing_to_do
    assert not plan_of(known, again="yes").nothing_to_do
    assert not plan_of(known, source="servers", renew="101").nothing_to_do
    assert not plan_of(known, source="files", ca_file="/a", cert_file="/b", key_file="/c").nothing_to_do
    ending = told(CA.pem, *CA.pair(ends=NOW + 20 * DAY))
    near = seen(*(encrypted(name, ending) for name in NAMES))
    assert not plan_of(near).nothing_to_do
    assert checks_of(near, "TLS-PAIR")[0].verdict is WARN
    assert "The previous files are not removed: /c/ca.pem" in " ".join(plan_of(near).expects)


def test_that_pairs_of_two_cas_or_one_that_is_broken_are_something_to_do_and_block_nothing() -> None:
    other = Authority("other")
    two = seen(encrypted("n1"), encrypted("n2", told(other.pem, *other.pair())), encrypted("n3"))
    broken = seen(encrypted("n1"), encrypted("n2", told(CA.pem, CERT, CA.pair()[1])), encrypted("n3"))
    for known in (two, broken):
        assert not plan_of(known).nothing_to_do
        assert worst(known, "TLS-PAIR") is not BLOCK


# -- refused -----------------------------------------------------------------------------------------------------------


def test_that_what_the_scripts_could_not_do_is_refused() -> None:
    by_rsync = host("n2", group=galera("n2", sst_method="rsync"), sst_options_known=True)
    for known, code in (
        (seen(by_rsync), "SST-METHOD"),
        (seen(ready("n2", ("sst", "transferfmt", "nc"))), "SST-METHOD"),
        (seen(ready("n2", ("sst", "sockopt", ",verify=0"))), "SST-METHOD"),
        (seen(ready("n2", transfer_pairs_speaks_tls=False)), "TLS-PROGRAMS"),
        (seen(ready("n2", transfer_pairs_any_name=False)), "TLS-PROGRAMS"),
        (seen(ready("n2", transfer_pairs_any_name=None)), "TLS-PROGRAMS"),
        (seen(ready("n2", address="fd00::2")), "TLS-PROGRAMS"),
        (seen(ready("n2", ("sst", "encrypt", "3"))), "SST-ALIKE"),
        (seen(ready("n2", ("mysqld", "encrypt", "0"))), "SST-ONE-PLACE"),
        (seen(*(ready(name, ("sst", "encrypt", "7")) for name in NAMES)), "SST-MODE"),
        (seen(ready("n2", sst_options_known=False)), "SST-ONE-PLACE"),
        (seen(ready("n2", sst_orphans=((7, 1.0, "wsrep_sst_mariabackup --role donor"),))), "NO-SST"),
    ):  # fmt: skip
        assert worst(known, code) is BLOCK, code
        assert worst(seen(), code) is PASS


def test_that_the_older_modes_are_found_and_replaced() -> None:
    known = seen(*(ready(name, ("sst", "encrypt", "2")) for name in NAMES))
    check = checks_of(known, "SST-MODE")[0]
    assert (check.verdict, "this run replaces it by encrypt=4" in check.evidence) == (WARN, True)
    assert not plan_of(known).nothing_to_do


def test_that_percona_is_refused_with_its_reason() -> None:
    node = ready("n2").node
    assert node is not None
    assert node.server is not None
    percona = replace(node, server=replace(node.server, flavour=Flavour.PXC))
    check = checks_of(seen(changed(ready("n2"), node=percona)), "SST-METHOD")[0]
    assert (check.verdict, "pxc_encrypt_cluster_traffic" in check.evidence) == (BLOCK, True)


def test_that_each_servers_certificate_is_judged_where_it_is_to_be_used_and_only_there() -> None:
    other = Authority("other")
    for text, sentence in (
        (told(other.pem, CERT, KEY), "is not of the CA"),
        (told(CA.pem, CERT, CA.pair()[1]), "does not belong"),
        (told(CA.pem, *CA.pair(ends=NOW - DAY)), "expired"),
        (told(CA.pem, CERT, KEY, mode="644"), "others than its owner"),
        (told(CA.pem, CERT, KEY, readable="closed"), "may not read the key"),
    ):
        known = seen(ready("n2", transfer_pairs_own=pair(text)))
        bad = [c for c in checks_of(known, "TLS-PAIR", source="servers") if c.verdict is BLOCK]
        assert [c.host for c in bad] == ["n2"], sentence
        assert sentence in bad[0].evidence
        assert worst(known, "TLS-PAIR") is PASS
    assert worst(seen(ready("n2", transfer_pairs_own=None)), "TLS-PAIR", source="servers") is BLOCK
    odd = seen(ready("n2", transfer_pairs_own=pair(paths=("/c/a,b.pem", *PATHS[1:]))))
    assert worst(odd, "TLS-PAIR", source="servers") is BLOCK


def test_that_the_servers_certificates_have_to_be_of_one_ca() -> None:
    other = Authority("other")
    two = seen(ready("n2", transfer_pairs_own=pair(told(other.pem, *other.pair()))))
    assert worst(two, "ONE-CA", source="servers") is BLOCK
    assert worst(seen(), "ONE-CA", source="servers") is PASS
    assert {"encrypt", "transferfmt", "compressor"} <= set(ALIKE)


# -- on scripted hosts, at every moment --------------------------------------------------------------------------------


def _settings(cluster: Cluster) -> set[str]:
    """What the option files of each host say of state transfers."""
    return {
        "\n".join(sorted(line for path, text in h.files.items() if path.endswith(".cnf") for line in text.splitlines()
                         if line.partition(" ")[0] in {"encrypt", "tca", "tcert", "tkey"}))
        for h in cluster.hosts.values()
    }  # fmt: skip


def _held(cluster: Cluster) -> bool:
    return all(any("ExecStartPre" in text for text in h.loaded) for h in cluster.hosts.values())


@pytest.mark.parametrize("case", [c for c in CASES if c.name == "encrypt-sst"], ids=lambda c: c.title)
def test_that_no_join_is_let_through_while_settings_differ_and_never_are_there_two_pairs(case: Any) -> None:
    bench = case.bench()
    bench.begin()
    moments = bench.moments(bench.run)
    assert any(len(_settings(m.cluster)) > 1 for m in moments)
    assert all(len(_settings(m.cluster)) == 1 or _held(m.cluster) for m in moments)
    for moment in moments[::5]:
        again = bench.after_kill(moment)
        resumed = again.moments(again.run)
        back = bench.after_kill(moment)
        begun = back.engine().view.state not in {RunState.NOT_STARTED, RunState.DONE}
        undone = back.moments(lambda back=back: back.engine().undo()) if begun else ()
        for later in (*resumed, *undone):
            assert len(_settings(later.cluster)) == 1 or _held(later.cluster), f"{moment.name}, then {later.name}"
            assert later.cluster.alarms == [], f"{moment.name}, then {later.name}"
        pairs = {text for h in again.cluster.hosts.values() for path, text in h.files.items() if "-cert" in path}
        assert len(pairs) == 1, moment.name


def test_that_a_host_that_is_away_keeps_the_others_held_while_the_settings_may_differ() -> None:
    case = next(c for c in CASES if c.title == "encrypt")
    bench = case.bench()
    bench.begin()
    moment = next(m for m in bench.moments(bench.run) if len(_settings(m.cluster)) > 1)
    away = bench.after_kill(moment)
    away.cluster.hosts["n3"].reachable = False
    away.engine().release()
    assert _held(away.cluster)
    assert len(away.engine().view.obligations) == 3
    away.cluster.hosts["n3"].reachable = True
    assert away.engine().undo() is RunState.UNDONE
    assert away.engine().view.obligations == ()
    assert UUID
