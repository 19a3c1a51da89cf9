"""A report's colours: every one of a drawing has its counterpart in the dark, and words can be read in both."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from services.procedures.report.style import style
from services.procedures.report.time import axis_of, timeline
from services.procedures.report.topology import topology_picture
from services.types import Health
from tests.unit.procedures.reports.test_report import SNAPSHOT, both, full_run
from tests.unit.procedures.reports.test_report_first import undone

PAINT = re.compile(r'(fill|stroke)="(#[0-9A-Fa-f]{6})"')
VARIABLE = re.compile(r"--([a-z_]+): (#[0-9A-F]{6});")


def themes() -> tuple[dict[str, str], dict[str, str]]:
    light, dark = re.findall(r":root \{([^}]*)\}", style())
    return dict(VARIABLE.findall(light)), dict(VARIABLE.findall(dark))


def brightness(color: str) -> float:
    """Return WCAG 2.1's relative luminance."""
    shares = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


def lanes() -> str:
    """The time line of a run that failed and was taken back."""
    view = undone().view()
    picture = timeline(view, axis_of(view))
    assert picture is not None
    return ET.tostring(picture.svg, encoding="unicode")


def drawn(health: Health) -> str:
    nodes = tuple(replace(node, health=health) for node in SNAPSHOT.nodes)
    edges = tuple(replace(edge, health=health) for edge in SNAPSHOT.replication)
    return ET.tostring(topology_picture("x", replace(SNAPSHOT, nodes=nodes, replication=edges)).svg, encoding="unicode")


def test_that_every_colour_of_every_drawing_has_its_rule_for_the_dark() -> None:
    html, _ = both(full_run())
    drawings = "".join(re.findall(r"<svg.*?</svg>", html, re.DOTALL)) + "".join(map(drawn, Health)) + lanes()
    used = set(PAINT.findall(drawings))
    assert len(used) > 10
    assert [pair for pair in used if f'svg [{pair[0]}="{pair[1]}"]' not in style()] == []


def test_that_both_themes_have_the_same_names() -> None:
    light, dark = themes()
    assert set(light) == set(dark)


@pytest.mark.parametrize("ground", ["panel", "canvas", "enclosure"])
@pytest.mark.parametrize("words", ["text", "second", "third", "good", "transfer", "warn", "bad"])
def test_that_words_can_be_read_on_every_ground_of_both_themes(words: str, ground: str) -> None:
    for theme in themes():
        assert contrast(theme[words], theme[ground]) >= 4.5, (theme[words], theme[ground])


def test_that_paper_is_light_whatever_the_screen_is() -> None:
    before, dark = style().split("@media screen and (prefers-color-scheme: dark) {")
    assert "svg [" not in before
    assert "@media print" in dark.split("\n}\n", 1)[1]
