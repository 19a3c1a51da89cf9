"""The settings of a YAML configuration file, by their dotted names. Pure.

MongoDB manual, "Configuration File Options". The file is a server's: what is no mapping of scalars, is too large or
has anchors (a small file may stand for gigabytes with them) is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.errors import BadInput
from services.i18n import tr

Scalar = str | int | float | bool
MOST_CHARACTERS = 200_000
_MOST_DEEP = 20


def settings_of(text: str) -> dict[str, Scalar]:
    """Return dotted name -> value; a key without a value is not there. Raises BadInput."""
    import yaml

    if len(text) > MOST_CHARACTERS:
        raise _unread(tr("it is too large"))
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise _unread(tr("it has anchors"))
        read = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise _unread(tr("it is no YAML")) from problem
    if read is None:
        return {}
    if not isinstance(read, dict):
        raise _unread(tr("it holds no settings"))
    found: dict[str, Scalar] = {}
    left: list[tuple[str, object, int]] = [("", read, 0)]
    while left:
        above, value, depth = left.pop()
        if isinstance(value, dict) and depth < _MOST_DEEP:
            left += [(f"{above}.{key}" if above else str(key), inner, depth + 1) for key, inner in value.items()]
        elif isinstance(value, str | int | float | bool):
            found[above] = value
        elif value is not None:
            found[above] = str(value)
    return found


def _unread(why: str) -> BadInput:
    return BadInput(tr("The configuration file can't be read as YAML settings: {why}.", why=why))


def text_of(settings: Mapping[str, Scalar]) -> str:
    """Return the text of a file with these settings, given by their dotted names."""
    import yaml

    made: dict[str, Any] = {}
    for name, value in settings.items():
        at = made
        *above, own = name.split(".")
        for word in above:
            at = at.setdefault(word, {})
        at[own] = value
    return str(yaml.safe_dump(made, sort_keys=False, width=4000))
