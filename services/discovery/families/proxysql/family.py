"""ProxySQL: an instance that a person named on a host. It is drawn, and nothing is said of what nobody read."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.making import Card, Making
from services.discovery.families.port import Agreement, Parts
from services.discovery.families.proxysql.kind import PROXYSQL
from services.discovery.families.shared.channels import Link
from services.discovery.families.shared.plain import Plain
from services.discovery.judgement.judge import Around
from services.discovery.judgement.states import State
from services.discovery.nodes import Node
from services.facts.model import NodeFacts
from services.i18n import mark, tr
from services.inventory.kinds import PROXYSQL as NAMED
from services.types import ClusterKind, Health

NOT_READ = State("not-read", mark("not read yet"))


class ProxySql(Plain):
    """The answers of a family that is only named."""

    kinds = (PROXYSQL,)

    def speaks(self, _facts: NodeFacts) -> bool:
        """Return False: no answer of a server tells of it."""
        return False

    def takes(self, members: Sequence[Node], _links: Sequence[Link]) -> ClusterKind | None:
        """Return the kind where the inventory says so."""
        return PROXYSQL if all(n.facts is not None and n.facts.kind == NAMED.code for n in members) else None

    def parts(self, _cluster_id: str, members: list[Node], making: Making) -> Parts:
        """Return the instance as it is written."""
        making.recall(members)
        views = (making.view(node, Around(), Card(PROXYSQL.words, (), "")) for node in members)
        text = tr("It is listed in the inventory; Pilothouse does not read ProxySQL yet.")
        shown = tuple(making.told(view, NOT_READ, Health.UNKNOWN, text) for view in views)
        return Parts(members, shown, (), agreement=Agreement(sentence=tr("Listed in the inventory")))
