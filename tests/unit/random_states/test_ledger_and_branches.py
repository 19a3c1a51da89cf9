"""The ledger counts what was acknowledged and nothing else; the tree knows which histories exist and who holds what."""

from __future__ import annotations

from dataclasses import dataclass, field

import pymysql
import pytest

from tests.lab.random_states.branches import Tree, forked_pairs, shares
from tests.lab.random_states.ledger import Ledger

MEMBERS = ("s1", "s2", "s3")


@dataclass
class Refusing:
    """A session that takes `takes` rows and then gives the error of a node outside the Primary Component."""

    takes: int
    rows: list[int] = field(default_factory=list)
    closed: bool = False

    def insert(self, row: int, burst: int) -> None:
        del burst
        if len(self.rows) == self.takes:
            raise pymysql.err.OperationalError(1047, "WSREP has not yet prepared node for application use")
        self.rows.append(row)

    def close(self) -> None:
        self.closed = True


def test_that_only_acknowledged_rows_count_and_no_id_is_ever_used_twice() -> None:
    ledger, first, second = Ledger(), Refusing(3), Refusing(99)
    assert ledger.burst("s1", lambda _: first, rows=10) == {1, 2, 3}
    assert ledger.burst("s2", lambda _: second, rows=2) == {5, 6}
    assert ledger.acknowledged == {1: "s1", 2: "s1", 3: "s1", 5: "s2", 6: "s2"}
    assert first.closed
    assert second.closed
    assert ledger.bursts == 2


def test_that_a_node_that_takes_no_session_acknowledges_nothing() -> None:
    def refuse(host: str) -> Refusing:
        raise ConnectionRefusedError(host)

    ledger = Ledger()
    assert ledger.burst("s1", refuse) == frozenset()
    assert ledger.acknowledged == {}


def test_that_a_bootstrap_beside_the_majority_begins_a_branch_and_rows_of_both_sides_make_a_fork() -> None:
    tree = Tree.of(MEMBERS)
    tree.wrote(MEMBERS, frozenset({1, 2}))
    tree.bootstrapped("s3", "pc.bootstrap")
    tree.wrote(("s3",), frozenset({3}))
    assert tree.forks() == ()  # s3 is only ahead so far
    tree.wrote(("s1", "s2"), frozenset({4}))
    assert tree.forks() == (("s1", "s3"), ("s2", "s3"))
    assert [(b.parent, sorted(b.kept), b.how) for b in tree.branches[1:]] == [(0, [1, 2], "pc.bootstrap on s3")]
    assert tree.on == {"s1": 0, "s2": 0, "s3": 1}


def test_that_who_comes_to_a_component_of_another_branch_takes_that_branch_over() -> None:
    tree = Tree.of(MEMBERS)
    tree.bootstrapped("s3", "galera_new_cluster")
    tree.wrote(("s3",), frozenset({3}))
    tree.wrote(("s1", "s2"), frozenset({4}))
    tree.together(("s1", "s3"), first="s1")
    assert tree.on["s3"] == 0
    assert tree.held["s3"] == {4}
    assert tree.forks() == ()


def test_that_a_restored_copy_is_behind_and_no_fork() -> None:
    tree = Tree.of(MEMBERS)
    tree.wrote(MEMBERS, frozenset({1}))
    older = (tree.on["s2"], tree.held["s2"])
    tree.wrote(MEMBERS, frozenset({2}))
    tree.put_back("s2", *older)
    assert tree.held["s2"] == {1}
    assert tree.forks() == ()


@pytest.mark.parametrize(
    ("held", "pairs"),
    [
        ({"a": {1, 2}, "b": {1}}, ()),
        ({"a": {1, 2}, "b": {1, 3}}, (("a", "b"),)),
        ({"a": set(), "b": {1}}, ()),
    ],
)
def test_that_two_nodes_are_forked_when_each_has_a_row_that_the_other_has_not(
    held: dict[str, set[int]], pairs: tuple[tuple[str, str], ...]
) -> None:
    assert forked_pairs({name: frozenset(rows) for name, rows in held.items()}) == pairs


def test_that_the_shares_tell_who_holds_how_many_rows_together_and_alone() -> None:
    held = {"s1": frozenset({1, 2, 3}), "s2": frozenset({1, 2}), "s3": frozenset({1, 9})}
    assert list(shares(held)) == [(("s1", "s2", "s3"), 1), (("s1", "s2"), 1), (("s1",), 1), (("s3",), 1)]


def test_that_a_node_that_is_only_behind_shares_its_past_and_one_that_went_on_alone_does_not() -> None:
    tree = Tree.of(("s1", "s2", "s3"))
    tree.wrote(("s1", "s2", "s3"), frozenset({1}))
    tree.bootstrapped("s2", "galera_new_cluster")
    tree.together(("s2", "s3"), "s2")
    tree.wrote(("s2", "s3"), frozenset({2}))
    assert tree.one_past()
    tree.wrote(("s1",), frozenset({3}))
    assert not tree.one_past()


def test_that_two_bootstraps_from_one_point_are_two_pasts() -> None:
    tree = Tree.of(("s1", "s2"))
    tree.bootstrapped("s1", "pc.bootstrap")
    assert tree.one_past()
    tree.bootstrapped("s2", "pc.bootstrap")
    assert not tree.one_past()
