"""The drawings of a report and its tables: everything inside its frame, nothing over another, no word broken."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from xml.etree.ElementTree import Element

import numpy as np

from services.discovery.model import Component, NodeView, TransferEdge
from services.procedures.journal import entries as line
from services.procedures.plan.run_model import RunState
from services.procedures.report.html import report_html
from services.procedures.report.markdown import report_markdown
from services.procedures.report.plot import plot_picture
from services.procedures.report.time import Axis
from services.procedures.report.topology import topology_picture
from services.series import Series
from tests.unit.procedures.journal.test_projection import START, Writer
from tests.unit.procedures.reports.test_report import CHART, SNAPSHOT


def boxes(svg: Element) -> list[tuple[float, float, float, float, float]]:
    """Return (left, top, right, bottom, corner) of each rounded box."""
    found = []
    for box in svg.iter("rect"):
        x, y, width, height = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height, float(box.get("rx", "0"))))
    return found


def test_that_every_card_stands_inside_its_enclosure_and_the_drawing_however_many_there_are() -> None:
    for count in (1, 4, 5, 9):
        nodes = tuple(NodeView(f"n{i}", f"n{i}") for i in range(count))
        inside = Component("c", True, tuple(n.node_id for n in nodes))
        whole = replace(SNAPSHOT, nodes=nodes, components=(inside,), replication=(), transfers=())
        svg = topology_picture("x", whole).svg
        (frame,) = [box for box in boxes(svg) if box[4] == 10]
        cards = [box for box in boxes(svg) if box[4] == 8]
        assert len(cards) == count
        for left, top, right, bottom, _ in cards:
            assert frame[0] + 10 <= left
            assert right <= frame[2] - 10
            assert frame[1] + 20 <= top
            assert bottom <= frame[3] - 10
        assert 0 < frame[0] < frame[2] < float(svg.attrib["width"])
        assert frame[3] < float(svg.attrib["height"])


def test_that_no_edge_of_a_drawing_leaves_it_or_runs_through_a_card() -> None:
    nodes = tuple(NodeView(f"n{i}", f"n{i}") for i in range(7))
    inside = Component("c", True, tuple(n.node_id for n in nodes[:5]))
    ends = [(a.node_id, b.node_id) for a in nodes for b in nodes if a is not b]
    for donor, joiner in ends:
        transfers = (TransferEdge(donor, joiner, kind="IST"),)
        whole = replace(SNAPSHOT, nodes=nodes, components=(inside,), replication=(), transfers=transfers)
        svg = topology_picture("x", whole).svg
        cards = [box[:4] for box in boxes(svg) if box[4] == 8]
        (way,) = [path.attrib["d"] for path in svg.iter("path") if path.get("stroke-dasharray") == "6 4"]
        points = [tuple(map(float, point.split())) for point in way.removeprefix("M").split(" L")]
        for (x0, y0), (x1, y1) in pairwise(points):
            for left, top, right, bottom in cards:
                across = min(x0, x1) < right and max(x0, x1) > left
                assert not (across and min(y0, y1) < bottom and max(y0, y1) > top), (donor, joiner)
        word = next(text for text in svg.iter("text") if text.text == "IST")
        at = float(word.attrib["x"]), float(word.attrib["y"])
        assert 20 < at[0] < float(svg.attrib["width"]) - 20
        assert not any(left < at[0] < right and top < at[1] < bottom for left, top, right, bottom in cards)


def numbers(at: tuple[float, ...]) -> list[str]:
    """Return the numbers written over a curve of 100 s whose steps began at these seconds."""
    series = Series("m", START + np.arange(100.0), np.ones(100))
    marks = tuple((START + second, str(number)) for number, second in enumerate(at, 1))
    svg = plot_picture(CHART, series, Axis(START, START + 100), marks, "B").svg
    return [text.text or "" for text in svg.iter("text") if text.get("paint-order")]


def test_that_steps_too_close_to_be_read_apart_share_one_number() -> None:
    assert numbers((10.0, 50.0, 90.0)) == ["1", "2", "3"]
    assert numbers((10.0, 10.5, 11.0, 60.0, 60.4)) == ["1–3", "4–5"]
    assert numbers((10.0, 500.0)) == ["1"]


def test_that_short_cells_stand_on_one_line_and_long_ones_may_be_broken() -> None:
    writer = Writer()
    html = report_html(writer.view(), writer.entries())
    assert '<td class="short">DISK-FREE</td>' in html
    assert "<td>The volume is being grown.</td>" in html


def test_that_inputs_stand_on_one_line_without_those_that_were_left_empty() -> None:
    writer = Writer()
    view = writer.view()
    view = replace(view, plan=replace(view.plan, inputs=(("node", "n2"), ("peak", ""), ("away", "30 min"))))
    html = report_html(view, writer.entries())
    assert "Node that goes down: n2; How long it will be away: 30 min" in html
    assert "peak" not in html


def test_that_what_is_true_at_the_end_is_said_once() -> None:
    expects = Writer().view().plan.expects
    writer = Writer().write(line.run_state(RunState.DONE, " ".join(expects)))
    outcome = report_markdown(writer.view(), writer.entries()).split("## The cluster")[0]
    assert outcome.count(expects[0].replace(".", "")) == 1


def test_that_where_the_hosts_were_reached_is_told_in_words() -> None:
    writer = Writer().write(line.note("hosts", '{"n1": ["10.0.0.1", "uuid"], "n2": ["10.0.0.2", ""]}'))
    assert "n1 10.0.0.1, n2 10.0.0.2" in report_html(writer.view(), writer.entries())
    for odd in ("[1, 2]", "no JSON", '{"n1": 5}'):
        writer.write(line.note("hosts", odd))
    html = report_html(writer.view(), writer.entries())
    assert "[1, 2]" in html
    assert "n1 5" in html
