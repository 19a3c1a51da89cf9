"""The pictures that the program makes of its own demo: one a page, in both themes and two sizes, worth showing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QGuiApplication, QImage

from tests.widgets.color_math import contrast
from widgets.common.look.theme import Theme, curve_color
from widgets.common.look.theme import theme as theme_named

pytestmark = pytest.mark.slow

PAGES = ("topology", "charts", "procedures", "journal")
LOOKS = (("light", 1280, 800), ("dark", 1280, 800), ("light", 2560, 1440))
TOP_BAR, STATUS_LINE, TREE_WIDTH = 44, 28, 232


@pytest.fixture(scope="module", params=LOOKS, ids=lambda look: f"{look[0]}-{look[1]}x{look[2]}")
def pictures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Theme, Path, str]:
    """Return theme, folder and the end of the names of the demo's pictures, made as a person would make them."""
    theme, width, height = request.param
    folder = tmp_path_factory.mktemp("pictures")
    words = ["demo", "--screenshots", str(folder), "--theme", theme, "--size", f"{width}x{height}"]
    done = subprocess.run(
        [sys.executable, "-m", "app", *words],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=os.environ | {"TZ": "UTC"},
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len((*PAGES, "settings", "shortcuts"))
    return theme_named(theme), folder, f"{theme}-{width}x{height}"


def picture(pictures: tuple[Theme, Path, str], page: str) -> QImage:
    _, folder, end = pictures
    image = QImage(str(folder / f"{page}-{end}.png"))
    assert not image.isNull()
    return image


def colors(image: QImage, left: int, top: int, right: int, bottom: int, step: int = 2) -> dict[int, int]:
    """Return how often each colour is seen in a box, looking at each `step`th pixel."""
    found: dict[int, int] = {}
    for y in range(top, bottom, step):
        for x in range(left, right, step):
            rgb = image.pixel(x, y)
            found[rgb] = found.get(rgb, 0) + 1
    return found


def test_that_there_is_one_picture_a_page_in_the_size_asked_for(
    pictures: tuple[Theme, Path, str], qapp: QGuiApplication
) -> None:
    _, folder, end = pictures
    assert sorted(p.name for p in folder.iterdir()) == sorted(
        f"{page}-{end}.png" for page in (*PAGES, "settings", "shortcuts")
    )
    for page in PAGES:
        image = picture(pictures, page)
        assert f"{image.width()}x{image.height()}" == end.split("-")[1]


@pytest.mark.parametrize("page", PAGES)
def test_that_every_region_of_a_page_has_something_to_say(
    pictures: tuple[Theme, Path, str], qapp: QGuiApplication, page: str
) -> None:
    image = picture(pictures, page)
    width, height = image.width(), image.height()
    regions = {
        "bar": (0, 0, width, TOP_BAR),
        "tree": (0, TOP_BAR, TREE_WIDTH, height // 2),
        "page": (TREE_WIDTH + 8, TOP_BAR, width, height - 160),
        "strip": (TREE_WIDTH + 8, height - 100, width, height - STATUS_LINE),
        "status": (0, height - STATUS_LINE, width, height),
    }
    plain = [name for name, box in regions.items() if len(colors(image, *box)) < 12]
    assert plain == []


@pytest.mark.parametrize("page", PAGES)
def test_that_the_ground_is_the_themes_and_text_on_it_can_be_read(
    pictures: tuple[Theme, Path, str], qapp: QGuiApplication, page: str
) -> None:
    theme = pictures[0]
    image = picture(pictures, page)
    seen = colors(image, 0, TOP_BAR + 2, TREE_WIDTH - 2, image.height() // 2)
    ground = QColor(max(seen, key=lambda rgb: seen[rgb]))
    assert ground == theme.panel
    strongest = max(contrast(QColor(rgb), ground) for rgb in seen)
    assert strongest >= 7.0


@pytest.mark.parametrize("page", PAGES)
def test_that_the_page_in_front_is_marked_by_the_accent(
    pictures: tuple[Theme, Path, str], qapp: QGuiApplication, page: str
) -> None:
    theme = pictures[0]
    seen = colors(picture(pictures, page), 130, 6, 460, TOP_BAR - 6, step=1)
    assert seen.get(theme.accent_tint.rgb(), 0) > 500


def test_that_the_topology_is_pictured_while_a_transfer_runs(
    pictures: tuple[Theme, Path, str], qapp: QGuiApplication
) -> None:
    theme, image = pictures[0], picture(pictures, "topology")
    seen = colors(image, TREE_WIDTH + 8, TOP_BAR, image.width() - 330, image.height() - 160)
    assert seen.get(theme.transfer_tint.rgb(), 0) > 300
    assert seen.get(theme.enclosure.rgb(), 0) > 300


def test_that_the_charts_are_filled_from_end_to_end(pictures: tuple[Theme, Path, str], qapp: QGuiApplication) -> None:
    """The processor's stack of the first card must be seen from its left to its right end, not in a corner only."""
    image = picture(pictures, "charts")
    user = curve_color(0)
    row = range(TOP_BAR + 90, min(image.height() // 3, 440))
    first_card = range(430, image.width() - 120)

    def has_curve(x: int) -> bool:
        return any(_near(QColor(image.pixel(x, y)), user) for y in row)

    filled = [x for x in first_card if has_curve(x)]
    assert len(filled) > 0.8 * len(first_card)


def _near(a: QColor, b: QColor) -> bool:
    return abs(a.red() - b.red()) + abs(a.green() - b.green()) + abs(a.blue() - b.blue()) <= 110
