"""A YAML configuration file written anew with other settings, its comments kept: what can't be edited by lines. Pure.

ruamel.yaml reads the whole text and writes it again: flow style, folded values and the end of a document come out as
they were or as plain lines; a blank line or an indentation may not. What came of it the caller reads again.
"""

from __future__ import annotations

import io
from collections.abc import MutableMapping
from typing import Any

from services.errors import BadInput
from services.i18n import tr
from services.lines import lines_of

_WIDTH = 100_000  # no line is broken that was none


def rewritten(text: str, settings: tuple[tuple[str, str | int | None], ...]) -> str:
    """Return the text with these settings, by their dotted names, made or removed (None). Raises BadInput."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    writer = YAML(typ="rt")
    writer.preserve_quotes, writer.width = True, _WIDTH
    lines = [line for line in lines_of(text) if line.strip() and not line.lstrip().startswith("#")]
    writer.explicit_start = any(line.split()[0] == "---" for line in lines) or None
    writer.indent(mapping=min((len(line) - len(line.lstrip(" ")) for line in lines if line[0] == " "), default=2))
    written = io.StringIO()
    try:
        top = writer.load(text)
        if not isinstance(top, MutableMapping):
            raise BadInput(tr("It contains no settings."))
        for name, value in settings:
            if value is None:
                _remove(top, name)
            else:
                _set(top, name, value)
        writer.dump(top, written)
    except (YAMLError, RecursionError, ValueError) as problem:
        raise BadInput(tr("It cannot be rewritten with its comments.")) from problem
    return written.getvalue()


def _set(top: MutableMapping[str, Any], name: str, value: str | int) -> None:
    inside, key = _place(top, name)
    *above, own = key.split(".")
    for word in above if key not in inside else ():
        if inside.get(word) is None:
            inside[word] = {}
        inside = inside[word]
        if not isinstance(inside, MutableMapping):
            raise BadInput(tr("{name} is not a mapping there.", name=word))
    inside[own if key not in inside else key] = value


def _remove(top: MutableMapping[str, Any], name: str) -> None:
    inside, key = _place(top, name)
    inside.pop(key, None)


def _place(inside: MutableMapping[str, Any], name: str) -> tuple[MutableMapping[str, Any], str]:
    """Return the innermost mapping on the way to a setting, and the rest of its name there: keys may have dots."""
    if name in inside:
        return inside, name
    for at in (at for at, sign in enumerate(name) if sign == "."):
        below = inside.get(name[:at])
        if isinstance(below, MutableMapping):
            return _place(below, name[at + 1 :])
    return inside, name
