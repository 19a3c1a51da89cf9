"""The table of shortcuts: what is bound, what the sheet (F1), the menu, the palette and the tooltips tell of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from services.i18n import mark, tr

_MODIFIERS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.ShiftModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


_NAMES = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓", "Space": mark("Space"), "Return": mark("Enter")}


@dataclass(frozen=True, slots=True)
class Shortcut:
    """What keys do. `keys` are Qt's portable names; `hidden` ones are bound, but not told in the sheet."""

    act: str
    words: str
    keys: tuple[str, ...]
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where the keys do it: the whole window, or what has the focus."""

    name: str
    title: str
    shortcuts: tuple[Shortcut, ...]


WINDOW = Place(
    "window",
    mark("Everywhere"),
    (
        Shortcut("palette", mark("Go to, run, find: the command palette"), ("Ctrl+K",)),
        Shortcut("page-1", mark("Topology"), ("Alt+1",)),
        Shortcut("page-2", mark("Charts"), ("Alt+2",)),
        Shortcut("page-3", mark("Procedures"), ("Alt+3",)),
        Shortcut("page-4", mark("Journal"), ("Alt+4",)),
        Shortcut("settings", mark("Settings"), ("Ctrl+,",)),
        Shortcut("live", mark("Back to the present (in a recording: to its end)"), ("End",)),
        Shortcut("play", mark("Play or pause (not in a field or on a button)"), ("Space",)),
        Shortcut("context-menu", mark("Menu of the focused item"), ("Shift+F10",)),
        Shortcut("next", mark("To the next or previous control"), ("Tab", "Shift+Tab")),
        Shortcut("tree", mark("Show or hide the estate"), ("Ctrl+B",)),
        Shortcut("inspector", mark("Show or hide the inspector"), ("Ctrl+I",)),
        Shortcut("narrower", mark("Make the panel with the focus narrower"), ("Alt+Shift+Left",)),
        Shortcut("wider", mark("Make the panel with the focus wider"), ("Alt+Shift+Right",)),
        Shortcut("larger", mark("Larger text"), ("Ctrl++",), ("Ctrl+=",)),
        Shortcut("smaller", mark("Smaller text"), ("Ctrl+-",)),
        Shortcut("usual-size", mark("Normal text size"), ("Ctrl+0",)),
        Shortcut("sheet", mark("Show this sheet"), ("F1",)),
        Shortcut("quit", mark("Quit"), ("Ctrl+Q",)),
    ),
)
TREE = Place(
    "tree",
    mark("Estate"),
    (
        Shortcut("walk", mark("Choose a cluster or a node"), ("Up", "Down")),
        Shortcut("fold", mark("Close or open a cluster"), ("Left", "Right")),
        Shortcut("activate", mark("To the node's numbers in the inspector"), ("Return",), ("Enter",)),
    ),
)
CANVAS = Place(
    "canvas",
    mark("Topology"),
    (
        Shortcut("left", mark("To the node on the left"), ("Left",)),
        Shortcut("right", mark("To the node on the right"), ("Right",)),
        Shortcut("up", mark("To the node above"), ("Up",)),
        Shortcut("down", mark("To the node below"), ("Down",)),
        Shortcut("activate", mark("To the node's numbers in the inspector"), ("Return",), ("Enter",)),
        Shortcut("zoom-in", mark("Zoom in"), ("+",), ("=",)),
        Shortcut("zoom-out", mark("Zoom out"), ("-",)),
        Shortcut("fit", mark("Show the whole cluster"), ("F", "0")),
        Shortcut("export", mark("Export the page as a picture"), ("Ctrl+E",)),
    ),
)
CHARTS = Place(
    "charts",
    mark("Charts"),
    (
        Shortcut("left", mark("Cursor to the left"), ("Left",)),
        Shortcut("right", mark("Cursor to the right"), ("Right",)),
        Shortcut("view-left", mark("View to the left"), ("Shift+Left",)),
        Shortcut("view-right", mark("View to the right"), ("Shift+Right",)),
        Shortcut("zoom-in", mark("Zoom in"), ("+",), ("=",)),
        Shortcut("zoom-out", mark("Zoom out"), ("-",)),
        Shortcut("reset", mark("Time span before zooming"), ("0",)),
        Shortcut("leave", mark("Hide the cursor"), ("Esc",)),
        Shortcut("live", mark("Back to the present (in a recording: to its end)"), ("End",)),
        Shortcut("compare", mark("Measure a change: compare two windows of time"), ("C",)),
        Shortcut("mark-before", mark("Start or end the window before, at the cursor"), ("B",)),
        Shortcut("mark-after", mark("Start or end the window after, at the cursor"), ("A",)),
        Shortcut("export", mark("Export the page as a picture"), ("Ctrl+E",)),
    ),
)
STRIP = Place(
    "strip",
    mark("Time axis and events"),
    (
        Shortcut("left", mark("Cursor to the left"), ("Left",)),
        Shortcut("right", mark("Cursor to the right"), ("Right",)),
        Shortcut("former-event", mark("To the previous event"), ("Ctrl+Left",)),
        Shortcut("next-event", mark("To the next event"), ("Ctrl+Right",)),
        Shortcut("view-left", mark("View to the left"), ("Shift+Left",)),
        Shortcut("view-right", mark("View to the right"), ("Shift+Right",)),
        Shortcut("zoom-in", mark("Zoom in"), ("+",), ("=",)),
        Shortcut("zoom-out", mark("Zoom out"), ("-",)),
        Shortcut("first", mark("To the start of the shown range"), ("Home",)),
        Shortcut("mark-before", mark("Start or end the window before, at the cursor"), ("B",)),
        Shortcut("mark-after", mark("Start or end the window after, at the cursor"), ("A",)),
        Shortcut("live", mark("Back to the present (in a recording: to its end)"), ("End",)),
        Shortcut("leave", mark("Hide the cursor"), ("Esc",)),
    ),
)
TRACK = Place(
    "track",
    mark("Position in the recording"),
    (
        Shortcut("back", mark("5 s back"), ("Left",)),
        Shortcut("on", mark("5 s forward"), ("Right",)),
        Shortcut("far-back", mark("1 min back"), ("Shift+Left",)),
        Shortcut("far-on", mark("1 min forward"), ("Shift+Right",)),
        Shortcut("first", mark("Start of the recording"), ("Home",)),
        Shortcut("last", mark("End of the recording"), ("End",)),
    ),
)
PROCEDURE = Place(
    "procedure",
    mark("Procedure page"),
    (
        Shortcut("back", mark("Back to the procedures; a run continues"), ("Esc",)),
        Shortcut("up", mark("To the step above"), ("Up",)),
        Shortcut("down", mark("To the step below"), ("Down",)),
        Shortcut("unfold", mark("Open or close a step"), ("Return", "Space"), ("Enter",)),
        Shortcut("open", mark("Open a step"), ("Right",)),
        Shortcut("close", mark("Close a step"), ("Left",)),
        Shortcut("copy", mark("Copy the focused item"), ("Ctrl+C",)),
    ),
)
JOURNAL = Place("journal", mark("Journal"), (Shortcut("filter", mark("Filter by text"), ("Ctrl+F",)),))
PLACES = (WINDOW, TREE, CANVAS, CHARTS, STRIP, TRACK, PROCEDURE, JOURNAL)


def bind(owner: QWidget, place: Place, act: str, do: Callable[[], object]) -> None:
    """Let an act's keys do this: in the whole window, elsewhere while the focus is in `owner`."""
    everywhere = place is WINDOW
    for key in _keys(place, act):
        shortcut = QShortcut(QKeySequence(key), owner, do)
        if not everywhere:
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)


def act_of(place: Place, event: QKeyEvent) -> str:
    """Return what a pressed key means in a place, '' for nothing; Shift counts only where the table says so."""
    modifiers = event.modifiers() & _MODIFIERS
    known = _acts(place)
    exact = known.get(QKeyCombination(modifiers, Qt.Key(event.key())).toCombined(), "")
    if exact or not modifiers & Qt.KeyboardModifier.ShiftModifier:
        return exact
    without = modifiers & ~Qt.KeyboardModifier.ShiftModifier
    return known.get(QKeyCombination(without, Qt.Key(event.key())).toCombined(), "")


def keys_of(place: Place, act: str) -> str:
    """Return an act's first keys as this platform writes them."""
    return written(_keys(place, act)[0])


def written(key: str) -> str:
    """Return keys as this platform writes them."""
    before, _, last = key.rpartition("+") if not key.endswith("+") else ("", "", key)
    if last not in _NAMES:
        return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
    held = QKeySequence(f"{before}+A").toString(QKeySequence.SequenceFormat.NativeText)[:-1] if before else ""
    return held + tr(_NAMES[last])


def _keys(place: Place, act: str) -> tuple[str, ...]:
    found = next(shortcut for shortcut in place.shortcuts if shortcut.act == act)
    return (*found.keys, *found.hidden)


@lru_cache(maxsize=16)
def _acts(place: Place) -> dict[int, str]:
    return {
        QKeySequence(key)[0].toCombined(): shortcut.act  # type: ignore[index]  # PySide6 has it, its stubs have not
        for shortcut in place.shortcuts
        for key in (*shortcut.keys, *shortcut.hidden)
    }
