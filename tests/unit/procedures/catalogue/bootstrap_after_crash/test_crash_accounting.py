"""Before anything is bootstrapped every member answers or is called off, those that a person left out too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.procedures.catalogue.checks import named_members
from services.procedures.catalogue.galera.bootstrap_after_crash.checks import positions, primary_exists, unaccounted
from services.procedures.catalogue.galera.bootstrap_after_crash.found_again import finds_the_first
from services.procedures.catalogue.galera.bootstrap_after_crash.party import party
from services.procedures.catalogue.galera.shared.positions import standings
from services.procedures.plan.checks import Override, standing_blocks
from services.procedures.plan.forms.inputs import hosts_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.pasts.named import named_members as everybody
from services.types import Reach
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, WARN, down, facts, galera, gone, host

DOWN = facts(*(down(name) for name in NAMES))


def with_named(seen: Facts) -> Facts:
    return replace(seen, named=everybody(seen))


def with_dark(name: str) -> Facts:
    return replace(DOWN, hosts=tuple(gone(name) if h.host == name else h for h in DOWN.hosts))


def test_that_a_silent_member_blocks_beyond_any_override() -> None:
    check = unaccounted(party(with_dark("n3"), NAMES, ()))
    assert (check.verdict, check.absolute, check.evidence) == (BLOCK, True, "no answer from n3")
    assert standing_blocks((check,), (Override(check.code, "I know"),)) == (check,)
    assert [(answer.field, answer.values) for answer in check.answers] == [("gone", ("n3",))]


def test_that_a_silent_member_that_was_left_out_of_the_nodes_blocks_too() -> None:
    check = unaccounted(party(with_dark("n3"), ("n1", "n2"), ()))
    assert (check.verdict, check.evidence) == (BLOCK, "no answer from n3; left out by you: n3")


def test_that_a_members_absence_by_a_persons_word_is_a_warning_and_no_pass() -> None:
    check = unaccounted(party(with_dark("n3"), ("n1", "n2"), ("n3",)))
    assert (check.verdict, check.evidence) == (WARN, "you confirmed that these are off: n3")


def test_that_a_member_that_answers_though_it_was_called_off_blocks_beyond_any_override() -> None:
    check = unaccounted(party(DOWN, ("n1", "n2"), ("n3",)))
    told = "n3 answers, although you confirmed that it is off" in check.evidence
    assert (check.verdict, check.absolute, told) == (BLOCK, True, True)
    assert [(answer.field, answer.values) for answer in check.answers] == [("gone", ()), ("nodes", ())]


def test_that_a_member_that_was_left_out_is_told_and_blocks_while_its_server_runs() -> None:
    check = unaccounted(party(DOWN, ("n1", "n2"), ()))
    assert (check.verdict, check.evidence) == (WARN, "left out by you: n3")
    running = facts(down("n1"), down("n2"), host("n3", group=galera("n3", cluster_status="non-Primary")))
    check = unaccounted(party(running, ("n1", "n2"), ()))
    assert (check.verdict, "its server runs" in check.evidence) == (BLOCK, True)


def test_that_everybody_is_asked_right_before_the_act_by_login_or_by_a_look_at_the_ports() -> None:
    address = (("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.9"),)
    nodes = [down(name, address=f"10.0.0.{i}", options_given=address) for i, name in enumerate(NAMES, 1)]
    asked = party(with_named(replace(facts(*nodes), members=NAMES)), ("n1",), ("n3",)).none_is_primary()
    assert asked.hosts == ("n1", "n2")
    assert asked.accounted == ("n3",)
    assert asked.addresses == ("10.0.0.3", "10.0.0.4", "10.0.0.9")
    assert asked.ports == (3306, 4567)


@pytest.mark.parametrize(
    ("reach", "verdict"),
    [
        (Reach.FULL, PASS), (Reach.SSH_ONLY, PASS), (Reach.SQL_ONLY, PASS), (Reach.NONE, BLOCK),
        (Reach.NOT_TRIED, BLOCK),
    ],
)  # fmt: skip
def test_that_any_answer_counts_and_no_answer_does_not(reach: Reach, verdict: object) -> None:
    seen = DOWN.host("n3")
    assert seen.node is not None
    other = replace(seen, node=replace(seen.node, reach=reach))
    found = replace(DOWN, hosts=tuple(other if h.host == "n3" else h for h in DOWN.hosts))
    assert unaccounted(party(found, NAMES, ())).verdict is verdict


def test_that_a_primary_that_was_left_out_of_the_nodes_blocks_beyond_any_override() -> None:
    seen = facts(down("n1"), down("n2"), host("n3"))
    check = primary_exists(seen, ("n1", "n2"))
    assert (check.verdict, check.absolute, check.evidence[:13]) == (BLOCK, True, "Primary on n3")
    assert primary_exists(DOWN, NAMES).verdict is PASS


@pytest.mark.parametrize(
    ("address", "verdict"),
    [
        ("gcomm://10.0.0.1,10.0.0.2,10.0.0.3", PASS),
        ("gcomm://n1,n2:4567,n3", PASS),
        ("gcomm://n1.example.com,n2.example.com,n3.example.com", PASS),  # as many as there are, called otherwise
        ("gcomm://10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4", BLOCK),
        ("gcomm://n1.example.com,n2.example.com,n3.example.com,n4.example.com", BLOCK),
    ],
)
def test_that_a_member_that_only_the_option_files_name_blocks_until_a_person_accepts_it(
    address: str, verdict: object
) -> None:
    options = (("mysqld", "wsrep_cluster_address", address),)
    seen = with_named(
        facts(*(down(name, address=f"10.0.0.{i}", options_given=options) for i, name in enumerate(NAMES, 1)))
    )
    check = named_members(seen, blocks=True)
    assert check.verdict is verdict
    assert named_members(seen).verdict is (WARN if verdict is BLOCK else PASS)
    if verdict is BLOCK:
        assert "4" in check.evidence
        assert any("left the cluster permanently" in advice for advice in check.try_), check.try_
        assert standing_blocks((check,), (Override(check.code, "an arbitrator"),)) == (check,)  # by name alone
        ((accepted,),) = (answer.values for answer in check.answers)
        assert named_members(seen, gone=hosts_of(accepted), blocks=True).verdict is WARN


@pytest.mark.parametrize(
    ("address", "verdict"),
    [
        ("gcomm://10.0.0.1,10.0.0.2,10.0.0.3", PASS),
        ("gcomm://n3", PASS),
        ("gcomm://somewhere.example", PASS),  # not known who that is
        ("gcomm://10.0.0.1,10.0.0.2", BLOCK),
    ],
)
def test_that_a_node_that_looks_for_nobody_who_is_up_by_then_would_wait_without_end(
    address: str, verdict: object
) -> None:
    """Seen on the lab: s3 was bootstrapped, s1 and s2 looked for each other alone."""
    options = (("mysqld", "wsrep_cluster_address", address),)
    nodes = (down(name, address=f"10.0.0.{i}", options_given=options) for i, name in enumerate(NAMES, 1))
    check = finds_the_first(party(facts(*nodes), NAMES, ()), "n3", ("n1", "n2"))
    assert check.verdict is verdict
    assert bool(check.try_) is (verdict is BLOCK)


def test_that_hosts_of_which_nothing_is_known_never_pass() -> None:
    assert unaccounted(party(Facts(1.0, "", "lab", members=NAMES), NAMES, ())).verdict is BLOCK


def test_that_a_silent_host_a_bad_state_file_and_none_are_told_apart() -> None:
    bad = down("n1", grastate=None, grastate_absent=False, grastate_damaged=True)
    none = down("n2", grastate=None, grastate_absent=True)
    seen = facts(bad, none, gone("n3"))
    told = {s.host: s.grastate for s in standings(seen, NAMES)}
    assert told == {"n1": "damaged", "n2": "absent", "n3": "no answer"}
    row = positions(seen, NAMES).evidence
    assert "n3: grastate no answer" in row
    assert row.count("absent") == 1
