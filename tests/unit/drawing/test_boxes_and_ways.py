"""Rectangles in rows, and the ways of edges between them in drawings of different measures."""

from __future__ import annotations

from itertools import pairwise

from services.discovery.model import ReplicationEdge
from services.drawing.box import Box, around, in_rows
from services.drawing.routes import Lanes, Router, arrow_head

LANES = Lanes(gutter=5, straight=30, above=12, dip=8, transfer_above=14, transfer_dip=4, label=6)
CARDS = in_rows(["a", "b", "c", "d", "e"], Box(10, 20, 100, 40), 2, (10, 20))


def test_that_boxes_stand_row_by_row_and_share_no_point() -> None:
    assert CARDS["b"] == Box(120, 20, 100, 40)
    assert CARDS["e"] == Box(10, 140, 100, 40)
    boxes = list(CARDS.values())
    assert not any(one.overlaps(other) for one in boxes for other in boxes if one is not other)
    assert around(boxes) == Box(10, 20, 210, 160)
    assert around(()) == Box(0, 0, 0, 0)


def test_that_a_way_runs_through_no_card_whatever_the_measures() -> None:
    for lanes in (LANES, Lanes(5, 5, 12, 8, 14, 4, 6, straight_transfers=True)):
        router = Router(CARDS, lanes)
        for one in CARDS:
            for other in CARDS:
                route = router.transfer(one, other)
                assert (route is None) == (one == other)
                for (x0, y0), (x1, y1) in pairwise(route.points if route else ()):
                    piece = Box(min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)).grown(-0.001)
                    assert not any(piece.overlaps(card) for card in CARDS.values())


def test_that_transfers_of_one_row_run_straight_only_where_their_words_have_room() -> None:
    wide = in_rows(["a", "b"], Box(0, 0, 100, 40), 2, (80, 20))
    below = Router(wide, LANES).transfer("a", "b")
    straight = Router(wide, Lanes(5, 30, 12, 8, 14, 4, 6, straight_transfers=True)).transfer("a", "b")
    assert below is not None
    assert below.side == "below"
    assert straight is not None
    assert len(straight.points) == 2
    assert (straight.points[0][0], straight.points[1][0]) == (100, 180)


def test_that_channels_into_one_card_enter_it_side_by_side() -> None:
    edges = (ReplicationEdge("b", "c", channel="second"), ReplicationEdge("a", "c", channel="first"))
    ways = Router(CARDS, LANES).channels(edges)
    ends = {way.index: way.route.points[-1][0] for way in ways}
    assert all(way.crowded for way in ways)
    assert 10 < ends[1] < ends[0] < 110, "the left source enters left: the ways do not cross"


def test_that_a_channel_to_a_server_outside_the_drawing_has_no_way() -> None:
    assert Router(CARDS, LANES).channels((ReplicationEdge("a", "elsewhere"),)) == []


def test_that_an_arrow_s_head_points_along_its_last_piece() -> None:
    assert arrow_head(((0, 0), (0, 5), (20, 5)), 8, 3) == ((20, 5), (12, 8), (12, 2))
    assert arrow_head(((4, 9), (4, 9)), 8, 3)[0] == (4, 9), "a way without a length still has its tip"
