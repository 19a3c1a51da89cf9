"""Names, states and hints as a hostile server would write them: shown as what they are, and no file is opened."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from services.drawing.cluster import natural_key
from services.events import Event
from services.types import Health
from widgets.common.controls.boxes import button
from widgets.common.controls.combo import Combo
from widgets.common.controls.labels import ElidedLabel, ValueLabel, label
from widgets.common.controls.plain import plain_text, set_tip, show_tip
from widgets.journal.events_model import WHAT, EventsModel
from widgets.topology.inspector.content import setting_words

PICTURE = "<img src='file:///etc/passwd'>"
HOSTILE = (
    PICTURE,
    f"db1 {PICTURE}",
    "&lt;img src=x&gt;",
    "<b>good</b>\nsecond <i>line</i>",
    "<?xml version='1.0'?><html><img src='file:///x'/></html>",
    "db1\x1b]0;owned\x07\x1b[2J",
    "db1\u202egpj.exe\u2066",
    "db\u200b1\u00ad",
    "c1 \x9b31m",
)


def shown(text: str) -> str:
    """Return what a person sees of a text that Qt may take for markup."""
    if not text.startswith("<p>"):
        return text
    document = QTextDocument()
    document.setHtml(text)
    return document.toPlainText()


def without_unseen(text: str) -> bool:
    return all(sign.isprintable() or sign == "\n" for sign in text)


@pytest.mark.parametrize("text", HOSTILE)
def test_that_a_tooltip_shows_markup_as_text_and_what_is_unseen_as_a_sign(qtbot: QtBot, text: str) -> None:
    told = plain_text(text)
    assert without_unseen(told)
    assert "<img" not in told
    if text.isprintable() or "\n" in text:
        assert shown(told) == text
    widget = button("x", hint=text)
    qtbot.addWidget(widget)
    assert widget.toolTip() == told
    combo = Combo()
    qtbot.addWidget(combo)
    combo.addItem(text)
    assert combo.toolTip() == told
    set_tip(widget, "")
    assert widget.toolTip() == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_that_labels_show_names_as_plain_text(qtbot: QtBot, text: str) -> None:
    for made in (label(text), ElidedLabel(text), ValueLabel(text)):
        qtbot.addWidget(made)
        assert isinstance(made, QLabel)
        assert made.textFormat() is Qt.TextFormat.PlainText
        assert without_unseen(made.text())
        made.setText("")
        made.setText(text)
        assert without_unseen(made.text())


class Watched(QTextDocument):
    """What Qt shows a tooltip with, and which files it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def loadResource(self, kind: int, name: QUrl) -> object:
        """Note the file; there is none."""
        del kind
        self.asked.append(name.toString())
        return None


def test_that_no_file_is_opened_for_a_tooltip_that_names_one(qtbot: QtBot) -> None:
    del qtbot
    for text, files in ((PICTURE, ["file:///etc/passwd"]), (plain_text(PICTURE), [])):
        document = Watched()
        document.setHtml(text)
        document.size()
        assert sorted(set(document.asked)) == files


def test_that_a_tooltip_at_a_place_goes_the_same_way(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    told: list[str] = []
    monkeypatch.setattr("widgets.common.controls.plain.QToolTip.showText", lambda _at, text, _owner: told.append(text))
    widget = label("x")
    qtbot.addWidget(widget)
    show_tip(widget.pos(), PICTURE, widget)
    assert told == [plain_text(PICTURE)]


@pytest.mark.parametrize("text", HOSTILE)
def test_that_an_event_of_the_journal_has_a_plain_tooltip(text: str) -> None:
    model = EventsModel()
    model.show_events([Event(1.8e9, "state", text, Health.WARN)])
    assert model.rowCount() == 1
    told = str(model.data(model.index(0, WHAT), int(Qt.ItemDataRole.ToolTipRole)))
    assert without_unseen(told)
    assert "<img" not in told


@pytest.mark.parametrize("odd", ["²", "n²", "٣", "9" * 5000, "db2²"])
def test_that_a_name_or_a_setting_of_odd_digits_is_sorted_and_shown(odd: str) -> None:
    assert sorted([odd, "db10", "db2"], key=natural_key)
    assert setting_words("gcache_size", odd) == odd
    assert [*sorted(["db10", "db2"], key=natural_key)] == ["db2", "db10"]
