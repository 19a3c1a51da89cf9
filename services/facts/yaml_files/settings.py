"""The settings of a YAML configuration file, by their dotted names. Pure.

MongoDB manual, "Configuration File Options". The file is a server's: what is no mapping of scalars, is too large or
has anchors (a small file may stand for gigabytes with them) is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from services.errors import BadInput
from services.i18n import tr

if TYPE_CHECKING:
    import yaml

Scalar = str | int | float | bool
MOST_CHARACTERS = 200_000
_MOST_DEEP, _MOST_EVENTS = 20, 20_000


def settings_of(text: str) -> dict[str, Scalar]:
    """Return dotted name -> value; a key without a value is not there. Raises BadInput."""
    return dict(_read(text))


@lru_cache(maxsize=32)  # each look of a run reads the files of all its hosts anew, and they seldom differ
def _read(text: str) -> Mapping[str, Scalar]:
    import yaml

    if len(text) > MOST_CHARACTERS:
        raise _unread(tr("it is too large"))
    try:
        _look_through(text)
        reader = yaml.SafeLoader(text)
        return _settings(reader, reader.get_single_node())
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise _unread(tr("it is not YAML")) from problem


def _settings(reader: yaml.SafeLoader, top: yaml.Node | None) -> dict[str, Scalar]:
    """Return the settings of a document. A part that stands twice is one, as the server's own reader has it (it walks
    the pairs: yaml-cpp, options_parser.cpp); of a setting that stands twice nobody knows which one is meant."""
    import yaml

    if top is None or (isinstance(top, yaml.ScalarNode) and reader.construct_object(top) is None):
        return {}
    if not isinstance(top, yaml.MappingNode):
        raise _unread(tr("it contains no settings"))
    found: dict[str, Scalar] = {}
    left: list[tuple[str, yaml.Node, int]] = [("", top, 0)]
    while left:
        above, node, depth = left.pop()
        if isinstance(node, yaml.MappingNode) and depth < _MOST_DEEP:
            if not all(isinstance(key, yaml.ScalarNode) for key, _ in node.value):
                raise _unread(tr("it contains no settings"))
            left += [(f"{above}.{key.value}" if above else str(key.value), inner, depth + 1)
                     for key, inner in reversed(node.value)]  # fmt: skip
            continue
        value = reader.construct_object(node, deep=True)
        if above in found and value is not None:
            raise _unread(tr("{name} appears twice, the second time in line {line}", name=above, line=_line(node)))
        if value is not None:
            found[above] = _as_written(node, value)
    for name in found:
        if any(name[:at] in found for at, sign in enumerate(name) if sign == "."):
            raise _unread(tr("{name} is inside a value that is not a mapping", name=name))
    return found


def empty_parts(text: str) -> tuple[str, ...]:
    """Return the parts at the top of a file that hold nothing ('security:'): a server of 3.2 takes each for an option
    that it does not know, and does not start (addYAMLNodesToEnvironment, options_parser.cpp). Raises BadInput."""
    import yaml

    settings_of(text)
    top = yaml.SafeLoader(text).get_single_node()
    pairs = top.value if isinstance(top, yaml.MappingNode) else []
    return tuple(str(key.value) for key, value in pairs if value.tag == "tag:yaml.org,2002:null")


def _as_written(node: yaml.Node, value: object) -> Scalar:
    """Return a scalar's value; what YAML 1.1 takes for another number than it says (001, 1_000) is the text it is.

    The server's own reader takes each value as text (yaml-cpp).
    """
    if isinstance(value, str | bool):
        return value
    text = str(node.value) if isinstance(node.value, str) else str(value)
    return value if isinstance(value, int | float) and str(value) == text else text


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _look_through(text: str) -> None:
    """Raise BadInput for what takes a reader more than it tells. Cheap: it ends where a bound is passed.

    3,000 brackets took PyYAML 3.9 s, 8,000 took 41 s; a tag (`!!bool x`, `!!int ""`) ended in a KeyError.
    """
    import yaml

    depth = 0
    for number, event in enumerate(yaml.parse(text, yaml.SafeLoader)):
        if isinstance(event, yaml.AliasEvent):
            raise _unread(tr("it has anchors"))
        if getattr(event, "anchor", None) is not None or getattr(event, "tag", None) is not None:
            raise _unread(tr("it has anchors or tags"))
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEEP or number > _MOST_EVENTS:
            raise _unread(tr("it is nested too deeply or too large"))


def _unread(why: str) -> BadInput:
    return BadInput(tr("The configuration file cannot be read as YAML settings: {why}.", why=why))


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
