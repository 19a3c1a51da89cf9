"""The one style sheet, written from the tokens. Widgets ask for a look by the dynamic property `kind`.

QPushButton: kind = "" (outlined), "primary", "ghost", "danger". QLabel: kind = "title", "section", "second", "third",
"mono", "key", "bad", "warn", "good". QFrame: kind = "panel", "card", "hairline", "vline".
QScrollArea: kind = "ring" shows the focus.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from widgets.common.look.fonts import SMALL, TITLE, px

if TYPE_CHECKING:
    from widgets.common.look.theme import Theme

_SHEET = """
* {{ outline: none; }}
QMainWindow, QDialog {{ background: {window}; }}
QToolTip {{ background: {panel}; color: {text}; border: 1px solid {line}; padding: 4px 8px; }}

QLabel {{ background: transparent; color: {text}; }}
QLabel[kind="title"] {{ font-size: {title_px}px; font-weight: 600; }}
QLabel[kind="section"] {{ font-weight: 600; }}
QLabel[kind="caps"] {{ color: {third}; font-size: {small_px}px; font-weight: 600; }}
QLabel[kind="second"] {{ color: {second}; }}
QLabel[kind="third"] {{ color: {third}; font-size: {small_px}px; }}
QLabel[kind="key"] {{
  color: {text}; font-size: {small_px}px; background: {canvas};
  border: 1px solid {line}; border-radius: 4px; padding: 1px 6px;
}}
QLabel[kind="good"] {{ color: {good}; }}
QLabel[kind="transfer"] {{ color: {transfer}; }}
QLabel[kind="warn"] {{ color: {warn}; }}
QLabel[kind="bad"] {{ color: {bad}; }}

QFrame[kind="panel"] {{ background: {panel}; border: none; }}
QFrame[kind="canvas"] {{ background: {canvas}; border: none; }}
QFrame[kind="card"] {{ background: {panel}; border: 1px solid {line}; border-radius: 8px; }}
QFrame[kind="hairline"] {{ background: {line}; border: none; min-height: 1px; max-height: 1px; }}
QFrame[kind="vline"] {{ background: {line}; border: none; min-width: 1px; max-width: 1px; }}

QPushButton, QToolButton {{
  background: {panel}; color: {text}; border: 1px solid {line}; border-radius: 6px;
  min-height: {line_px}px; padding: 4px 12px;
}}
QPushButton:hover, QToolButton:hover {{ background: {hover}; border-color: {stale}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {divider}; }}
QPushButton:focus, QToolButton:focus {{ border: 1px solid {accent}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {third}; background: {canvas}; border-color: {divider}; }}
QPushButton:checked, QToolButton:checked {{ background: {accent_tint}; color: {accent}; border-color: {accent_tint}; }}
QPushButton:checked:focus, QToolButton:checked:focus {{ border-color: {accent}; }}
QPushButton::menu-indicator, QToolButton::menu-indicator {{ image: none; width: 0; }}
QPushButton[kind="primary"] {{
  background: {accent}; color: {on_accent}; border-color: {accent}; font-weight: 600;
}}
QPushButton[kind="primary"]:hover {{ background: {accent_hover}; border-color: {accent_hover}; }}
QPushButton[kind="primary"]:focus {{ border: 2px solid {text}; padding: 3px 11px; }}
QPushButton[kind="primary"]:disabled {{ background: {divider}; color: {third}; border-color: {divider}; }}
QPushButton[kind="ghost"], QToolButton[kind="ghost"] {{ background: transparent; border-color: transparent; }}
QPushButton[kind="ghost"]:hover, QToolButton[kind="ghost"]:hover {{ background: {hover}; }}
QPushButton[kind="ghost"]:checked, QToolButton[kind="ghost"]:checked {{
  background: {accent_tint}; color: {accent}; border-color: {accent_tint}; font-weight: 600;
}}
QPushButton[kind="ghost"]:focus, QToolButton[kind="ghost"]:focus {{ border-color: {accent}; }}
QPushButton[kind="link"] {{
  background: transparent; border: none; color: {accent}; padding: 0; text-align: left; min-height: {link_px}px;
}}
QPushButton[kind="link"]:hover, QPushButton[kind="link"]:focus {{ text-decoration: underline; }}
QPushButton[kind="danger"] {{ color: {bad}; border-color: {bad}; }}
QPushButton[kind="danger"]:hover {{ background: {bad_tint}; }}
QPushButton[kind="danger"]:focus {{ border: 2px solid {bad}; padding: 3px 11px; }}

QLineEdit, QSpinBox, QComboBox, QPlainTextEdit {{
  background: {panel}; color: {text}; border: 1px solid {line}; border-radius: 6px;
  padding: 4px 8px; min-height: {line_px}px; selection-background-color: {accent}; selection-color: {on_accent};
}}
QLineEdit:hover, QSpinBox:hover, QComboBox:hover {{ border-color: {stale}; }}
QLineEdit:focus, QSpinBox:focus, QComboBox:focus, QPlainTextEdit:focus {{ border-color: {accent}; }}
QLineEdit:disabled, QSpinBox:disabled, QComboBox:disabled {{ color: {third}; background: {canvas}; }}
QLineEdit[wrong="true"] {{ border-color: {bad}; }}
QSpinBox::up-button, QSpinBox::down-button {{ width: 0; border: none; }}
QComboBox::drop-down {{ border: none; width: 24px; }}
QComboBox::down-arrow {{
  image: none; width: 0; height: 0; margin-right: 8px;
  border-left: 4px solid {panel}; border-right: 4px solid {panel}; border-top: 5px solid {second};
}}
QComboBox QAbstractItemView {{
  background: {panel}; color: {text}; border: 1px solid {line}; padding: 4px;
  selection-background-color: {accent_tint}; selection-color: {text};
}}
QCheckBox, QRadioButton {{ color: {text}; spacing: 8px; background: transparent; }}
QCheckBox::indicator, QTableView::indicator {{
  width: 14px; height: 14px; border: 1px solid {stale}; border-radius: 4px; background: {panel};
}}
QRadioButton::indicator {{
  width: 14px; height: 14px; border: 1px solid {stale}; border-radius: 8px; background: {panel};
}}
QCheckBox::indicator:checked, QRadioButton::indicator:checked {{
  background: qradialgradient(cx:0.5, cy:0.5, radius:0.5, fx:0.5, fy:0.5,
    stop:0 {accent}, stop:0.56 {accent}, stop:0.6 {panel}, stop:1 {panel});
  border-color: {accent};
}}
QCheckBox::indicator:checked, QTableView::indicator:checked {{ background: {accent}; image: url("{check}"); }}
QCheckBox::indicator:focus, QRadioButton::indicator:focus {{ border: 2px solid {accent}; width: 12px; height: 12px; }}

QMenu {{ background: {panel}; color: {text}; border: 1px solid {line}; padding: 4px; }}
QMenu::item {{ padding: 6px 24px 6px 12px; border-radius: 4px; }}
QMenu::item:selected {{ background: {accent_tint}; }}
QMenu::item:disabled {{ color: {third}; }}
QMenu::separator {{ height: 1px; background: {divider}; margin: 4px 8px; }}

QTreeView, QListView, QTableView {{
  background: {panel}; color: {text}; border: none; selection-background-color: {accent_tint};
  selection-color: {text}; gridline-color: {divider}; alternate-background-color: {panel};
}}
QTableView::item {{ padding: 0 8px; border-bottom: 1px solid {divider}; }}
QTableView::item:selected {{ background: {accent_tint}; color: {text}; }}
QHeaderView {{ background: {panel}; border: none; }}
QHeaderView::section {{
  background: {panel}; color: {third}; border: none; border-bottom: 1px solid {line};
  padding: 4px 11px; font-size: {small_px}px; font-weight: 600;
}}
QScrollArea {{ background: transparent; border: none; }}
QScrollArea[kind="ring"] {{ border: 1px solid transparent; }}
QScrollArea[kind="ring"]:focus {{ border: 1px solid {accent}; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; border: none; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; border: none; }}
QScrollBar::handle {{ background: {line}; border-radius: 3px; margin: 2px; min-height: 28px; min-width: 28px; }}
QScrollBar::handle:hover {{ background: {stale}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; border: none; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QProgressBar {{ background: {divider}; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }}
QProgressBar::chunk {{ background: {transfer}; border-radius: 2px; }}
QSplitter::handle {{ background: {line}; }}
"""


def style_sheet(theme: Theme) -> str:
    """Return the application's style sheet for `theme`."""
    tokens = {name: getattr(theme, name).name() for name in theme.__slots__ if hasattr(getattr(theme, name), "name")}
    hover = theme.accent.lighter(112) if theme.dark else theme.accent.darker(112)
    sizes = {"title_px": px(TITLE), "small_px": px(SMALL), "line_px": px(18), "link_px": px(16)}
    check = (files("resources") / "icons" / f"check-{theme.name}.svg").as_posix()  # type: ignore[attr-defined]
    return _SHEET.format(**tokens, accent_hover=hover.name(), check=check, **sizes)
