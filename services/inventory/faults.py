"""Collecting every fault of a file before telling any: a person fixes them in one go."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping

from services.errors import BadInput
from services.i18n import tr
from services.inventory.toml_lines import Place, line_of


class Faults:
    """Faults of one inventory file, each a sentence with its line where that is known. Values are never quoted here."""

    def __init__(self, path: str, lines: dict[Place, int]) -> None:
        self._path = path
        self._lines = lines
        self._found: list[tuple[int, str]] = []

    def add(self, place: Place, sentence: str) -> None:
        """Note a fault at `place`."""
        line = line_of(place, self._lines)
        self._found.append((line or 0, f"line {line}: {sentence}" if line else sentence))

    def unknown(self, place: Place, known: Iterable[str], where: str) -> None:
        """Note a key that means nothing here, with the likeliest known one."""
        key = str(place[-1])
        near = _nearest(key, known)
        hint = tr(' (did you mean "{near}"?)', near=near) if near else ""
        self.add(place, tr('unknown key "{key}" in {where}{hint}.', key=key, where=where, hint=hint))

    @staticmethod
    def meant(key: str, table: Mapping[str, object], known: Collection[str]) -> bool:
        """Return whether a key stands in a table, well or badly written: what is wrong with it is told already."""
        return key in table or any(_nearest(other, known) == key for other in table if other not in known)

    def raise_if_any(self) -> None:
        """Raise one BadInput that tells all faults in the order of their lines."""
        if not self._found:
            return
        sentences = [sentence for _, sentence in sorted(self._found, key=lambda f: f[0])]
        count = "1 fault" if len(sentences) == 1 else f"{len(sentences)} faults"
        text = "\n".join(f"  {sentence}" for sentence in sentences)
        raise BadInput(
            tr("The inventory {path} has {count}:\n{text}", path=self._path, count=count, text=text),
            safe=tr("Nothing was changed, and no host was contacted."),
            try_=(tr("Correct these lines; resources/docs/inventory.md describes the format."),),
        )


def _nearest(key: str, known: Iterable[str]) -> str:
    """Return the known key that is likeliest meant, '' where none is near."""
    return next(iter(difflib.get_close_matches(key, tuple(known), n=1, cutoff=0.6)), "")
