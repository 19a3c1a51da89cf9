"""Where the passwords that are typed into a form will be found again: the system's keyring, or the environment."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from services.i18n import tr
from services.secrets import SecretRef
from widgets.common.controls.labels import label

_PLAIN = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
_SIGNS = str.maketrans({".": "_", "-": "__", "_": "___"})


def reference(name: str, what: str, *, keep: bool) -> SecretRef:
    """Return what the inventory names for a typed password of the host `name`; `what`: 'sql', 'ssh', 'sudo' ...

    Kept, it is an entry of the keyring. Not kept, it is a variable of the environment: the inventory must not name an
    entry that nobody stored. For this run the window's own memory answers for either.
    """
    return SecretRef("keyring", f"{name}/{what}") if keep else SecretRef("env", _variable(name, what))


def _variable(name: str, what: str) -> str:
    """Return the name of a variable; no two hosts share one, or one would get the other's password."""
    plain = _PLAIN.fullmatch(name)
    host = name.translate(_SIGNS) if plain else f"_{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    return f"PILOTHOUSE_{host}_{what.replace('-', '_').upper()}_PASSWORD"


class KeepBox(QWidget):
    """The tick 'Keep passwords in the system's keyring', and what its being off, or the keyring's absence, means."""

    def __init__(self) -> None:
        super().__init__()
        self.tick = QCheckBox(tr("Store passwords in the system's keyring"))
        self.tick.setChecked(True)
        self.note = label("", "second", wrap=True)
        self._absent: tuple[str, ...] = ()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.tick)
        column.addWidget(self.note)
        self.follow(())

    def show_absence(self, sentences: Sequence[str]) -> None:
        """Say that there is no keyring, and the ways out; nothing can be kept then."""
        self._absent = tuple(sentences)
        if self._absent:
            self.tick.setChecked(False)
            self.tick.setEnabled(False)
        self.follow(())

    def follow(self, refs: Sequence[SecretRef]) -> None:
        """Say what becomes of the passwords behind these references."""
        lines = list(self._absent)
        if not self.tick.isChecked():
            names = ", ".join(ref.name for ref in refs)
            lines.append(
                tr(
                    "Typed passwords are valid until you quit; after that they are read from the environment: "
                    "{variables}.",
                    variables=names,
                )
                if names
                else tr("Typed passwords are valid until you quit; the inventory names environment variables for them.")
            )
        self.note.setText("\n".join(lines))
        self.note.setVisible(bool(lines))
