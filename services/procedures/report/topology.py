"""The cluster before and after as a drawing: components as enclosures, nodes as cards, edges; light, for paper too.

State is never told by colour alone: each health has its shape (see services.types.Health) and its word.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from xml.etree.ElementTree import Element, SubElement

from services.discovery.model import ClusterSnapshot, NodeView
from services.procedures.report.blocks import Grid, Picture, clean, moment
from services.procedures.report.style import INK
from services.types import Health
from services.words import tr

_WIDTH, _CARD_H, _GAP, _PAD, _HEAD = 960.0, 62.0, 16.0, 14.0, 22.0
_EDGE = 1.0  # half a line's width on either side: the drawing begins where the text does
_BELOW, _ALONE = 34.0, 14.0  # room under a row of cards: for the edges between them, without any
_ACROSS = 4
_CARD_W = (_WIDTH - 2 * _EDGE - 2 * _PAD - (_ACROSS - 1) * _GAP) / _ACROSS
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
class _Group:
    """Nodes that stand together: a component, or those outside every one."""

    title: str
    nodes: tuple[NodeView, ...]
    primary: bool
    enclosed: bool


def topology_picture(title: str, snapshot: ClusterSnapshot) -> Picture:
    """Return the drawing of one snapshot, with a table of its nodes."""
    groups = _groups(snapshot)
    below = _BELOW if snapshot.replication or any(t.active for t in snapshot.transfers) else _ALONE
    heights = [_HEAD + _PAD + _rows(g) * (_CARD_H + below) for g in groups]
    height = sum(heights) + _GAP * (len(heights) - 1) + 2 * _EDGE
    svg = new_svg(_WIDTH, height, f"{title}: {snapshot.name}")
    places: dict[str, tuple[float, float]] = {}
    top = _EDGE
    for group, tall in zip(groups, heights, strict=True):
        _enclosure(svg, group, top, tall)
        for i, node in enumerate(group.nodes):
            row, column = divmod(i, _ACROSS)
            places[node.node_id] = (
                _EDGE + _PAD + column * (_CARD_W + _GAP),
                top + _HEAD + _PAD + row * (_CARD_H + below),
            )
        top += tall + _GAP
    _draw_edges(svg, snapshot, places)
    for node in snapshot.nodes:
        if node.node_id in places:
            _card(svg, node, places[node.node_id])
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


def _groups(snapshot: ClusterSnapshot) -> tuple[_Group, ...]:
    found: list[_Group] = []
    placed: set[str] = set()
    known = {node.node_id: node for node in snapshot.nodes}
    for part in snapshot.components:
        nodes = tuple(known[m] for m in part.members if m in known and m not in placed)
        placed.update(node.node_id for node in nodes)
        word = tr("Primary Component") if part.primary else tr("non-Primary")
        votes = tr("{votes} of {known} votes", votes=part.votes, known=part.votes_known) if part.votes_known else ""
        found.append(_Group(", ".join(filter(None, (word, votes))), nodes, part.primary, enclosed=True))
    alone = tuple(node for node in snapshot.nodes if node.node_id not in placed)
    if alone:
        title = tr("Outside every component") if snapshot.components else snapshot.name
        found.append(_Group(title, alone, primary=False, enclosed=False))
    return tuple(group for group in found if group.nodes)


def _rows(group: _Group) -> int:
    return ceil(len(group.nodes) / _ACROSS)


def _enclosure(parent: Element, group: _Group, top: float, tall: float) -> None:
    fill, line = (INK["enclosure"], INK["enclosure_line"]) if group.primary else (INK["canvas"], INK["line"])
    box = {"x": f"{_EDGE:g}", "y": f"{top:.1f}", "width": f"{_WIDTH - 2 * _EDGE:g}", "height": f"{tall:.1f}"}
    shape = SubElement(parent, "rect", {**box, "rx": "10", "fill": fill, "stroke": line})
    if not group.primary and group.enclosed:
        shape.set("stroke-dasharray", "5 4")
    put_text(parent, (_EDGE + _PAD, top + 21), group.title, font_size="12", fill=INK["second"])


def _card(parent: Element, node: NodeView, place: tuple[float, float]) -> None:
    x, y = place
    box = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{_CARD_W:g}", "height": f"{_CARD_H:g}"}
    SubElement(parent, "rect", {**box, "rx": "8", "fill": INK["panel"], "stroke": INK["line"]})
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


def _draw_edges(parent: Element, snapshot: ClusterSnapshot, places: dict[str, tuple[float, float]]) -> None:
    for edge in snapshot.replication:
        _edge(parent, (edge.source_id, edge.replica_id), edge.channel, _INK[edge.health], places)
    for transfer in snapshot.transfers:
        if transfer.active:
            ends = (transfer.donor_id, transfer.joiner_id)
            _edge(parent, ends, transfer.kind or tr("transfer"), _INK[Health.TRANSFER], places, dash="6 4")


def _edge(
    parent: Element,
    ends: tuple[str, str],
    label: str,
    ink: str,
    places: dict[str, tuple[float, float]],
    dash: str = "",
) -> None:
    """Draw an arrow under the cards of one row, or beside cards of two rows, with its label at the bend."""
    if ends[0] not in places or ends[1] not in places:
        return
    (x1, y1), (x2, y2) = places[ends[0]], places[ends[1]]
    beside = y1 != y2
    dx, dy = (_CARD_W, _CARD_H / 2) if beside else (_CARD_W / 2, _CARD_H)
    x1, y1, x2, y2 = x1 + dx, y1 + dy, x2 + dx, y2 + dy
    bend = (max(x1, x2) + 48.0, (y1 + y2) / 2) if beside else ((x1 + x2) / 2, y1 + 24.0)
    tip = (x2 + 7, y2) if beside else (x2, y2 + 7)
    curve = f"M{x1:.1f} {y1:.1f} Q{bend[0]:.1f} {bend[1]:.1f} {tip[0]:.1f} {tip[1]:.1f}"
    path = SubElement(parent, "path", {"d": curve, "stroke": ink, "stroke-width": "2", "fill": "none"})
    if dash:
        path.set("stroke-dasharray", dash)
    corners = ((8, -4), (8, 4)) if beside else ((-4, 8), (4, 8))
    head = " ".join(f"{x2 + right:.1f},{y2 + down:.1f}" for right, down in ((0, 0), *corners))
    SubElement(parent, "polygon", {"points": head, "fill": ink})
    said = _SAID.get(ink, ink)
    if label:
        put_text(parent, (bend[0], bend[1] + 2), label, font_size="11", fill=said, text_anchor="middle")


def _table(snapshot: ClusterSnapshot) -> Grid:
    rows = tuple((n.name, n.state, n.role, n.reason) for n in snapshot.nodes)
    return Grid((tr("Node"), tr("State"), tr("Role"), tr("Reason")), rows)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
