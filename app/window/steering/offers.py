"""Where procedures are offered, the same everywhere: menus of drawing and tree, inspector, palette."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QMenu

from app.window.controller import Controller
from app.window.main_window import MainWindow
from services.discovery.model import ClusterSnapshot, NodeView
from services.discovery.words import joined
from services.i18n import tr
from services.procedures.plan.procedure import About
from services.procedures.service.offers import (
    can_be_retried,
    first_find_out,
    fitting,
    fitting_cluster,
    to_be_mended,
    why_not,
)
from widgets.common.commands.palette import PaletteEntry
from widgets.inventory.tree import Offer
from widgets.topology.inspector.panel import Action

_RUN = "run:"
_CONNECTION = "connection"
_RETRY = "retry"


class Offers(QObject):
    """Knows the procedures; hands what was chosen, with the host it was chosen for, to `choose`."""

    def __init__(
        self,
        controller: Controller,
        window: MainWindow,
        choose: Callable[[str, str], None],
        show_all: Callable[[], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._window = window
        self._choose = choose
        self._show_all = show_all
        self._abouts: tuple[About, ...] = ()
        window.topology.menu_wanted.connect(self._show_menu)
        window.inspector.action_chosen.connect(self._acted)
        window.tree.offers = self._of_row
        controller.offer = self._actions

    def use(self, abouts: tuple[About, ...]) -> None:
        """Offer these from now on."""
        self._abouts = abouts
        self._controller.refresh()

    # -- the inspector ------------------------------------------------------------------------------------------------

    def _actions(self, cluster: ClusterSnapshot, node: NodeView) -> tuple[Action, ...]:
        first = first_find_out(cluster)
        own = tuple(Action(f"{_RUN}{a.name}", _text(a), first=first) for a in self._fitting(cluster, node))
        if not (node.host and self._window.tree.hosts_change):
            return own
        retry = (Action(_RETRY, tr("Retry now"), mends=True),) if can_be_retried(node) else ()
        edit = (Action(_CONNECTION, _edit(node), mends=True),) if to_be_mended(node) else ()
        return (*retry, *edit, *own)

    def _acted(self, action_id: str, node_id: str) -> None:
        if action_id == _CONNECTION:
            self._window.tree.edit_host_requested.emit(node_id)
        if action_id == _RETRY:
            self._window.tree.retry_requested.emit(node_id)
        if action_id.startswith(_RUN):
            self._choose_for(action_id.removeprefix(_RUN), node_id)

    def _fitting(self, cluster: ClusterSnapshot, node: NodeView) -> tuple[About, ...]:
        return fitting(self._abouts, cluster, node) if node.host else ()

    def _choose_for(self, name: str, node_id: str) -> None:
        self._controller.select_node(node_id)
        node = self._controller.node()
        self._choose(name, node.name if node is not None and node.host else "")

    # -- the menus ----------------------------------------------------------------------------------------------------

    def _show_menu(self, node_id: str, place: QPoint) -> None:
        """What can be done with a node of the drawing, where it was asked for."""
        menu = QMenu(self._window.topology)
        menu.aboutToHide.connect(menu.deleteLater)
        for offer in (*self._of_node(node_id), *self._of_host(node_id)):
            offer.add_to(menu)
        if not menu.isEmpty():
            menu.popup(place)

    def _of_host(self, node_id: str) -> Iterator[Offer]:
        """Yield what the tree's own menu has for a host: ask it again, mend how it is reached."""
        nodes = (n for c in self._controller.estate.clusters for n in c.nodes if n.node_id == node_id)
        node, tree = next(nodes, None), self._window.tree
        if node is None or not node.host or not tree.hosts_change:
            return
        again = can_be_retried(node)
        if again:
            retry = partial(tree.retry_requested.emit, node_id)
            yield Offer(tr("Retry {name} now", name=node.name), retry, apart=True)
        yield Offer(_edit(node), partial(tree.edit_host_requested.emit, node_id), apart=not again)

    def _of_row(self, cluster_id: str, node_id: str) -> Sequence[Offer]:
        """What can be done with a row of the tree; `node_id` is '' for a cluster's own."""
        if node_id:
            return self._of_node(node_id)
        cluster = self._controller.estate.cluster(cluster_id)
        if cluster is None:
            return ()
        found = fitting_cluster(self._abouts, cluster, self._controller.estate)
        return self._offered(found, partial(self._choose_in, cluster_id), cluster)

    def _of_node(self, node_id: str) -> Sequence[Offer]:
        cluster = next((c for c in self._controller.estate.clusters if c.node(node_id)), None)
        node = cluster.node(node_id) if cluster is not None else None
        if cluster is None or node is None:
            return ()
        return self._offered(
            self._fitting(cluster, node), lambda name: self._choose_for(name, node_id), cluster, node.name
        )

    def _offered(
        self, found: Sequence[About], choose: Callable[[str], None], cluster: ClusterSnapshot, node: str = ""
    ) -> Sequence[Offer]:
        every = Offer(tr("All procedures…"), self._show_all, apart=True)
        if not self._abouts:
            return (every,)  # the service is being opened
        if self._controller.moment is not None:
            return (Offer(tr("This is the past: press End to return to the present"), None), every)
        if not found:
            return (
                Offer(tr("No procedure applies to {name} in its current state", name=node or cluster.name), None),
                every,
            )
        first = first_find_out(cluster)
        said = (Offer(first, None),) if first else ()
        return (*said, *(Offer(_text(about), partial(choose, about.name)) for about in found), every)

    def _choose_in(self, cluster_id: str, name: str) -> None:
        """A cluster with one node alone leaves no choice of it."""
        self._controller.select_cluster(cluster_id)
        cluster = self._controller.cluster()
        alone = cluster.nodes[0] if cluster is not None and len(cluster.nodes) == 1 else None
        self._choose(name, alone.name if alone is not None and alone.host else "")

    # -- the palette --------------------------------------------------------------------------------------------------

    def entries(self) -> Iterator[PaletteEntry]:
        """Yield what the palette offers: each procedure, those that fit the selected node for it."""
        cluster, node = self._controller.cluster(), self._controller.node()
        if cluster is not None and node is not None:
            for about in self._fitting(cluster, node):
                title = tr("Run: {title}", title=tr(about.title))
                detail = joined(tr("for {name}", name=node.name), first_find_out(cluster))
                yield PaletteEntry(f"{_RUN}{about.name}@{node.node_id}", "procedure", title, detail)
        for about in self._abouts:
            title = tr("Run: {title}", title=tr(about.title))
            why = why_not(about, cluster, self._controller.estate)
            yield PaletteEntry(f"{_RUN}{about.name}", "procedure", title, joined(about.name, why))

    def take(self, entry_id: str) -> bool:
        """Do what was chosen in the palette; return whether it was one of these."""
        if not entry_id.startswith(_RUN):
            return False
        name, _, node_id = entry_id.removeprefix(_RUN).partition("@")
        if node_id:
            self._choose_for(name, node_id)
        else:
            self._choose(name, "")
        return True


def _edit(node: NodeView) -> str:
    return tr("Edit the connection of {name}…", name=node.name)


def _text(about: About) -> str:
    return tr("{title}…", title=tr(about.title))
