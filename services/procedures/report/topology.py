"""The cluster before and after as a drawing: components as enclosures, nodes as cards, edges; light, for paper too.

State is never told by colour alone: each health has its shape (see services.types.Health) and its word.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from services.discovery.model import ClusterSnapshot, NodeView
from services.drawing.box import Box, around, in_rows
from services.drawing.cluster import Part, drawn_parts
from services.drawing.routes import Lanes, Route, Router, arrow_head
from services.i18n import tr
from services.procedures.report.blocks import Grid, Picture, clean, moment
from services.procedures.report.style import INK
from services.types import Health

_WIDTH, _CARD_H, _GAP, _PAD, _HEAD = 960.0, 62.0, 16.0, 14.0, 22.0
_EDGE = 1.0  # half a line's width on either side: the drawing begins where the text does
_BELOW, _ALONE = 34.0, 14.0  # room under a row of cards: for the edges between them, without any
_ARRIVAL = 24.0  # more room over the cards of a group that an edge enters from another
_BASE = 21.0  # from the top of an enclosure to the baseline of its title
_LETTER, _CLEAR = 6.2, 8.0  # about the width of a letter; free on either side of a way
_ACROSS = 4
_CARD_W = (_WIDTH - 2 * _EDGE - 2 * _PAD - (_ACROSS - 1) * _GAP) / _ACROSS
_LANES = Lanes(
    gutter=_GAP / 2, straight=3 * _GAP, above=20.0, dip=14.0, transfer_above=18.0, transfer_dip=8.0, label=10.0
)
_INK = {
    Health.GOOD: INK["good"],
    Health.TRANSFER: INK["transfer"],
    Health.WARN: INK["warn_fill"],
    Health.BAD: INK["bad"],
    Health.UNKNOWN: INK["stale"],
}
_SAID = {_INK[Health.WARN]: INK["warn"], _INK[Health.UNKNOWN]: INK["third"]}
"""Inks that are too pale for words, and what words have instead."""


@dataclass(frozen=True, slots=True)
class _Edge:
    """An arrow: its way, its words, its ink, and its dashes where it has some."""

    route: Route
    label: str
    ink: str
    dash: str = ""

    def crossings(self, y: float) -> Iterator[float]:
        """Give where pieces of the way that go up or down pass a height."""
        for (x, one), (_, other) in itertools.pairwise(self.route.points):
            if min(one, other) < y < max(one, other):
                yield x


def topology_picture(title: str, snapshot: ClusterSnapshot) -> Picture:
    """Return the drawing of one snapshot, with a table of its nodes."""
    groups = drawn_parts(snapshot)
    below = _BELOW if snapshot.replication or any(t.active for t in snapshot.transfers) else _ALONE
    entered = _entered(snapshot, groups)
    frames: list[Box] = []
    boxes: dict[str, Box] = {}
    top = _EDGE
    for group in groups:
        head = _HEAD + _PAD + (_ARRIVAL if group in entered else 0.0)
        first = Box(_EDGE + _PAD, top + head, _CARD_W, _CARD_H)
        cards = in_rows([node.node_id for node in group.nodes], first, _ACROSS, (_GAP, below))
        boxes |= cards
        frames.append(Box(_EDGE, top, _WIDTH - 2 * _EDGE, around(cards.values()).bottom + below - top))
        top = frames[-1].bottom + _GAP
    svg = new_svg(_WIDTH, around(frames).bottom + _EDGE, f"{title}: {snapshot.name}")
    edges = _edges(snapshot, Router(boxes, _LANES))
    for group, frame in zip(groups, frames, strict=True):
        _enclosure(svg, group, frame)
        _title(svg, _words(group, snapshot), frame, edges)
    for edge in edges:
        _arrow(svg, edge)
    for node in snapshot.nodes:
        _card(svg, node, boxes[node.node_id])
    for edge in edges:
        _label(svg, edge)
    return Picture(f"{title} ({moment(snapshot.at)})", svg, _table(snapshot))


def new_svg(width: float, height: float, title: str) -> Element:
    """Return an empty drawing that scales with the page and says its title to screen readers."""
    box = {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}"}
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **box})
    SubElement(svg, "title").text = clean(title)
    return svg


def put_text(parent: Element, at: tuple[float, float], text: str, **more: str) -> None:
    """Put one line of text at a point (its baseline)."""
    named = {key.replace("_", "-"): value for key, value in more.items()}
    SubElement(parent, "text", {"x": f"{at[0]:.1f}", "y": f"{at[1]:.1f}", **named}).text = clean(text)


def _entered(snapshot: ClusterSnapshot, groups: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return the groups that an edge enters from another one: it comes from above, under the title."""
    ends = [(e.source_id, e.replica_id) for e in snapshot.replication]
    ends += [(t.donor_id, t.joiner_id) for t in snapshot.transfers if t.active]
    members = {group: {node.node_id for node in group.nodes} for group in groups}
    return tuple(g for g in groups if any(b in members[g] and a not in members[g] for a, b in ends))


def _words(group: Part, snapshot: ClusterSnapshot) -> str:
    part = group.component
    if part is None:
        return tr("Outside every component") if snapshot.components else snapshot.name
    word = tr("Primary Component") if part.primary else tr("non-Primary")
    votes = tr("{votes} of {known} votes", votes=part.votes, known=part.votes_known) if part.votes_known else ""
    return ", ".join(filter(None, (word, votes)))


def _enclosure(parent: Element, group: Part, frame: Box) -> None:
    fill, line = (INK["enclosure"], INK["enclosure_line"]) if group.primary else (INK["canvas"], INK["line"])
    shape = SubElement(parent, "rect", {**_rect(frame), "rx": "10", "fill": fill, "stroke": line})
    if not group.primary and group.component is not None:
        shape.set("stroke-dasharray", "5 4")


def _title(parent: Element, title: str, frame: Box, edges: tuple[_Edge, ...]) -> None:
    """Put a group's title where no way from above runs through it."""
    x, y = frame.x + _PAD, frame.y + _BASE
    width = _LETTER * len(title)
    for crossing in sorted(at for edge in edges for at in edge.crossings(y)):
        if x - _CLEAR < crossing < x + width + _CLEAR:
            x = crossing + _CLEAR
    put_text(parent, (x, y), title, font_size="12", fill=INK["second"])


def _rect(box: Box) -> dict[str, str]:
    return {"x": f"{box.x:.1f}", "y": f"{box.y:.1f}", "width": f"{box.w:g}", "height": f"{box.h:.1f}"}


def _card(parent: Element, node: NodeView, box: Box) -> None:
    x, y = box.x, box.y
    SubElement(parent, "rect", {**_rect(box), "rx": "8", "fill": INK["panel"], "stroke": INK["line"]})
    _glyph(parent, node.health, (x + 16, y + 19))
    put_text(parent, (x + 30, y + 23), _cut(node.name, 18), font_size="13", font_weight="600", fill=INK["text"])
    put_text(parent, (x + 12, y + 41), _cut(node.state or "?", 24), font_size="12", fill=INK["text"])
    where = node.host if node.host != node.name else ""
    put_text(parent, (x + 12, y + 55), _cut(node.role or where, 26), font_size="11", fill=INK["third"])


def _glyph(parent: Element, health: Health, at: tuple[float, float]) -> None:
    x, y, ink = at[0], at[1], _INK[health]
    if health is Health.GOOD:
        SubElement(parent, "circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "6", "fill": ink})
    elif health is Health.TRANSFER:
        half = f"M{x:.1f} {y - 6:.1f} A6 6 0 0 0 {x:.1f} {y + 6:.1f} Z"
        ring = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "5.5", "fill": "none", "stroke": ink}
        SubElement(parent, "circle", ring)
        SubElement(parent, "path", {"d": half, "fill": ink})
    elif health is Health.WARN:
        corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y + 5:.1f} {x - 6:.1f},{y + 5:.1f}"
        SubElement(parent, "polygon", {"points": corners, "fill": ink})
    elif health is Health.BAD:
        box = {"x": f"{x - 5:.1f}", "y": f"{y - 5:.1f}", "width": "10", "height": "10", "fill": ink}
        SubElement(parent, "rect", box)
        cut = f"M{x - 5:.1f} {y + 5:.1f} L{x + 5:.1f} {y - 5:.1f}"
        SubElement(parent, "path", {"d": cut, "stroke": INK["panel"], "stroke-width": "2"})
    else:
        ring = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "5.5", "fill": "none", "stroke": ink}
        SubElement(parent, "circle", {**ring, "stroke-dasharray": "2.5 2"})


def _edges(snapshot: ClusterSnapshot, router: Router) -> tuple[_Edge, ...]:
    found = []
    for way in router.channels(snapshot.replication):
        edge = snapshot.replication[way.index]
        found.append(_Edge(way.route, edge.channel, _INK[edge.health]))
    for transfer in snapshot.transfers:
        route = router.transfer(transfer.donor_id, transfer.joiner_id) if transfer.active else None
        if route is not None:
            found.append(_Edge(route, transfer.kind or tr("transfer"), _INK[Health.TRANSFER], dash="6 4"))
    return tuple(found)


def _arrow(parent: Element, edge: _Edge) -> None:
    head = arrow_head(edge.route.points, 8.0, 4.0)
    end = ((head[1][0] + head[2][0]) / 2, (head[1][1] + head[2][1]) / 2)
    line = " L".join(f"{x:.1f} {y:.1f}" for x, y in (*edge.route.points[:-1], end))
    look = {"stroke": edge.ink, "stroke-width": "2", "stroke-linejoin": "round", "fill": "none"}
    path = SubElement(parent, "path", {"d": f"M{line}", **look})
    if edge.dash:
        path.set("stroke-dasharray", edge.dash)
    SubElement(parent, "polygon", {"points": " ".join(f"{x:.1f},{y:.1f}" for x, y in head), "fill": edge.ink})


def _label(parent: Element, edge: _Edge) -> None:
    """Put an edge's words where its way has room for them: over every card, and inside the drawing."""
    side = edge.route.side
    (x, y), down = edge.route.anchor, {"below": 9.0, "above": -2.0}.get(side, 4.0)
    anchor = {"right": "start", "left": "end"}.get(side, "middle")
    if side == "right" and x + _LETTER * len(edge.label) > _WIDTH:
        x, anchor = x - 2 * _CLEAR, "end"
    ink = _SAID.get(edge.ink, edge.ink)
    put_text(parent, (x, y + down), edge.label, font_size="11", fill=ink, text_anchor=anchor)


def _table(snapshot: ClusterSnapshot) -> Grid:
    rows = tuple((n.name, n.state, n.role, n.reason) for n in snapshot.nodes)
    return Grid((tr("Node"), tr("State"), tr("Role"), tr("Reason")), rows)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
