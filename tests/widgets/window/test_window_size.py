"""How large the first window is: the usual size where the screen has room, never beyond the screen."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from app.window.window_run import DEFAULT_SIZE, TITLE_BAR, fitting_size


@pytest.mark.parametrize(
    ("room", "size"),
    [((1280, 800), (1280, 800 - TITLE_BAR)), ((2560, 1440), DEFAULT_SIZE), ((1440, 860), (1440, 860 - TITLE_BAR))],
)
def test_that_the_first_window_stays_on_the_screen(room: tuple[int, int], size: tuple[int, int]) -> None:
    area = SimpleNamespace(width=lambda: room[0], height=lambda: room[1])
    screen: Any = SimpleNamespace(availableGeometry=lambda: area)
    assert fitting_size(screen) == size


def test_that_pictures_have_the_usual_size_whatever_the_screen() -> None:
    assert fitting_size(None) == DEFAULT_SIZE
