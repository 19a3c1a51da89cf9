"""The house's colours as plain text, for the window and for reports alike.

Nothing here imports Qt: the first frame is painted with these before Qt's enums are needed (touching any enum of Qt's
own namespace builds all of its hundred enums, 15 ms). tests/widgets/common/test_theme_contrast.py proves the
contrast.
"""

from __future__ import annotations

LIGHT = {
    "window": "#EEF0F3",
    "panel": "#FFFFFF",
    "canvas": "#F7F8FA",
    "line": "#D8DDE3",
    "divider": "#E7EAEE",
    "text": "#1A1E23",
    "second": "#4E5762",
    "third": "#616A75",
    "accent": "#4456C9",
    "accent_tint": "#E6E9FB",
    "on_accent": "#FFFFFF",
    "good": "#147A55",
    "good_tint": "#DDF3E9",
    "transfer": "#1567B0",
    "transfer_tint": "#DCEBFA",
    "warn": "#8F5A00",
    "warn_fill": "#E09A12",
    "warn_tint": "#FCF0D8",
    "on_warn_fill": "#1A1E23",
    "bad": "#B8262B",
    "bad_tint": "#FBE1E0",
    "stale": "#7A838E",
    "enclosure": "#E9F4EF",
    "enclosure_line": "#9CCDB7",
    "hover": "#F1F3F6",
}

DARK = {
    "window": "#101317",
    "panel": "#1A1E24",
    "canvas": "#15181D",
    "line": "#2E353E",
    "divider": "#262C34",
    "text": "#E7EBF0",
    "second": "#A9B2BD",
    "third": "#8D96A2",
    "accent": "#8E9CFF",
    "accent_tint": "#262C52",
    "on_accent": "#101317",
    "good": "#43BE8C",
    "good_tint": "#16352A",
    "transfer": "#63AEF5",
    "transfer_tint": "#16304A",
    "warn": "#E9AC45",
    "warn_fill": "#E9AC45",
    "warn_tint": "#3A2C10",
    "on_warn_fill": "#101317",
    "bad": "#F2706A",
    "bad_tint": "#421D1D",
    "stale": "#7F8895",
    "enclosure": "#15241F",
    "enclosure_line": "#2C5C49",
    "hover": "#20252C",
}

CURVES = ("#3E7BD6", "#D97A1F", "#1E9E78", "#B65FA8", "#8A6D3B", "#5AA9C9", "#C2453F", "#7A7FD6")
"""One for each node, the same in both themes and on every page."""
