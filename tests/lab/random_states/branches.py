"""Which histories exist: a tree of branches, one more at every bootstrap; who holds which, and how far. Pure.

Written from the verbs alone, by nobody of the product. What the tables really hold is read apart (truth.py): the two
are compared, and the verdict stands on the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Branch:
    """One history.

    Attributes:
        parent: number of the branch it left, None for the first one.
        kept: ids that it took along from there.
        how: who made it, and how: 'pc.bootstrap on s3'.
    """

    number: int
    parent: int | None
    kept: frozenset[int]
    how: str


@dataclass
class Tree:
    """Branches, and what each node holds of them."""

    branches: list[Branch] = field(default_factory=lambda: [Branch(0, None, frozenset(), "the first bootstrap")])
    on: dict[str, int] = field(default_factory=dict)
    held: dict[str, frozenset[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, members: Iterable[str]) -> Tree:
        """Return a cluster that begins: everybody on the first branch, no row yet."""
        names = tuple(members)
        return cls(on=dict.fromkeys(names, 0), held=dict.fromkeys(names, frozenset()))

    def bootstrapped(self, host: str, how: str) -> None:
        """A node begins a history of its own from what it holds."""
        self.branches.append(Branch(len(self.branches), self.on[host], self.held[host], f"{how} on {host}"))
        self.on[host] = self.branches[-1].number

    def together(self, hosts: Iterable[str], first: str) -> None:
        """`hosts` are one component whose history is that of `first`: whoever came to it took its rows over.

        By SST all of them. By IST between forks only what came after: that is how forks hide, and the tables tell.
        """
        for host in hosts:
            if self.on[host] != self.on[first]:
                self.on[host], self.held[host] = self.on[first], self.held[first]
            else:
                self.held[host] = self.held[host] | self.held[first]

    def wrote(self, hosts: Iterable[str], rows: frozenset[int]) -> None:
        """Rows were acknowledged by a component of these hosts."""
        for host in hosts:
            self.held[host] = self.held[host] | rows

    def put_back(self, host: str, on: int, held: frozenset[int]) -> None:
        """An older copy of a data folder stands where the newer one stood."""
        self.on[host], self.held[host] = on, held

    def one_past(self) -> bool:
        """Return whether the histories of all nodes are one: of each two, one is where the other has been."""
        names = sorted(self.on)
        return all(self._behind(a, b) or self._behind(b, a) for a in names for b in names if a < b)

    def _behind(self, host: str, other: str) -> bool:
        """Whether what `host` has lies on the way to what `other` has."""
        here, number = self.on[host], self.on[other]
        kept = self.held[other]
        while number != here:
            branch = self.branches[number]
            if branch.parent is None:
                return False
            number, kept = branch.parent, branch.kept
        return self.held[host] <= kept

    def forks(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs of nodes that hold rows which the other one does not."""
        return forked_pairs(self.held)


def forked_pairs(held: dict[str, frozenset[int]]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of which each has a row that the other one has not."""
    names = sorted(held)
    pairs = ((a, b) for place, a in enumerate(names) for b in names[place + 1 :])
    return tuple((a, b) for a, b in pairs if held[a] - held[b] and held[b] - held[a])


def shares(held: dict[str, frozenset[int]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield who holds how many rows together and alone: (('s1', 's2'), 30): 30 rows on these two and nobody else."""
    by_holders: dict[tuple[str, ...], int] = {}
    for row in frozenset().union(*held.values()):
        holders = tuple(sorted(name for name, rows in held.items() if row in rows))
        by_holders[holders] = by_holders.get(holders, 0) + 1
    yield from sorted(by_holders.items(), key=lambda one: (-len(one[0]), one[0]))
