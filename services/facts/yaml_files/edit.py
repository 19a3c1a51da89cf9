"""Setting and removing settings in the text of a YAML configuration file: only the wanted lines change. Pure.

MongoDB manual, "Configuration File Options": YAML, mappings within mappings, named by their dotted path
('sharding.configsvrMode'); a name with dots in it ("sharding.configsvrMode: sccc" at the top) is the same. Where a key
and its value stand PyYAML's marks tell, and the text itself is not written anew: comments, order and indentation stay.
What can't be edited so (flow style, folded values, an end of the document) yaml_files/rewrite.py writes anew, with its
comments. What came of an edit is read again and held against what was wanted: else the file is refused whole.
"""

from __future__ import annotations

import json
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.errors import BadInput
from services.facts.yaml_files.rewrite import rewritten
from services.facts.yaml_files.settings import Scalar, settings_of
from services.i18n import tr

if TYPE_CHECKING:
    import yaml

Settings = tuple[tuple[str, str | int | None], ...]
_PLAIN = frozenset(string.ascii_letters + string.digits + "_./:,+@-")
_STEP = 2
_MOST_EDITED = 20_000
"""Characters. Each setting is put into the text as the one before it has left it, and read anew: 116 kB took 6.4 s."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A key of the file: lines and columns begin with 0.

    Attributes:
        line, column: of the key; value: what stands there, a mapping or a scalar.
    """

    line: int
    column: int
    value: yaml.Node


def edit_yaml(text: str, settings: Settings) -> str:
    """Return the file's text with these settings made, or removed where the value is None.

    Raises BadInput: it is no YAML of mappings, or can't be edited; then it says what to write.
    """
    wanted = settings_of(text)
    asked = {name: value for name, value in dict(settings).items() if wanted.get(name) != value}
    for name, value in asked.items():
        wanted.pop(name, None)
        if value is not None:
            wanted[name] = value
    if not asked:
        return text
    if len(text) > _MOST_EDITED:
        raise _by_hand(tr("it has more than {most} characters.", most=_MOST_EDITED), settings)
    why = ""
    for edited in (_edited, rewritten):
        try:
            after = edited(text, tuple(asked.items()))
            if settings_of(after) == wanted:
                return after
        except BadInput as problem:
            why = why or problem.sentence
    raise _by_hand(why or tr("The result would differ from the intended settings."), settings)


def _edited(text: str, settings: Settings) -> str:
    import yaml

    try:
        for name, value in settings:
            text = _removed(text, name) if value is None else _set(text, name, value)
    except yaml.YAMLError as problem:  # what was added stands behind the end of the document
        raise _not_by_lines(tr("the document has text after its end")) from problem
    return text


def _set(text: str, name: str, value: Scalar) -> str:
    import yaml

    places = _places(text)
    found = places.get(name)
    if found is not None:
        node = found.value
        if not isinstance(node, yaml.ScalarNode):
            raise _not_by_lines(tr("{name} contains other settings there", name=name))
        if node.style in {"|", ">"}:
            raise _not_by_lines(tr("{name} is a multi-line text", name=name))
        shown = _written(value) if node.start_mark.index != node.end_mark.index else f" {_written(value)}"
        return text[: node.start_mark.index] + shown + text[node.end_mark.index :]
    parent, _, own = name.rpartition(".")
    return _added(text, places, parent, own, value)


def _added(text: str, places: dict[str, _Place], parent: str, own: str, value: Scalar) -> str:
    import yaml

    lines = _lines(text)
    if parent not in places:
        head, _, rest = f"{parent}.{own}".rpartition(".") if parent else ("", "", own)
        words = head.split(".") if head else []
        new = [f"{' ' * _STEP * depth}{word}:\n" for depth, word in enumerate(words)]
        new.append(f"{' ' * _STEP * len(words)}{rest}: {_written(value)}\n")
        if any(".".join(words[:n]) in places for n in range(1, len(words))):
            raise _not_by_lines(tr("{name} has no place of its own there", name=parent))
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        return "".join([*lines, *new])
    place = places[parent]
    node = place.value
    if isinstance(node, yaml.MappingNode) and node.value and not node.flow_style:
        indent, after = node.value[0][0].start_mark.column, _last_line(text, node)
    elif isinstance(node, yaml.ScalarNode) and not node.value:
        indent, after = place.column + _STEP, place.line
    else:
        raise _not_by_lines(tr("{name} is not written as a block", name=parent))
    if not lines[after].endswith("\n"):
        lines[after] += "\n"
    lines.insert(after + 1, f"{' ' * indent}{own}: {_written(value)}\n")
    return "".join(lines)


def _removed(text: str, name: str) -> str:
    places = _places(text)
    place = places.get(name)
    if place is None:
        return text
    lines = _lines(text)
    del lines[place.line : _last_line(text, place.value, place.line) + 1]
    left = "".join(lines)
    parent = name.rpartition(".")[0]
    alone = parent in places and not any(other.startswith(f"{parent}.") for other in places if other != name)
    return _removed(left, parent) if alone else left


def _lines(text: str) -> list[str]:
    """Return the lines with their ends: of a newline alone, as the server's own reader has them."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def _line_of(text: str, mark: yaml.Mark) -> int:
    """Return in which of these lines a mark stands: YAML itself counts other signs as ends of lines, too."""
    return text.count("\n", 0, mark.index)


def _last_line(text: str, node: yaml.Node, least: int = 0) -> int:
    """Return the last line of a value; a block's own end mark stands behind the comments that follow it."""
    import yaml

    if isinstance(node, yaml.MappingNode) and node.value and not node.flow_style:
        key, value = node.value[-1]
        return _last_line(text, value, _line_of(text, key.start_mark))
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        return _last_line(text, node.value[-1], least)
    if isinstance(node, yaml.ScalarNode) and node.start_mark.index == node.end_mark.index:
        return least  # no value: the mark stands wherever the next token begins
    return max(least, _line_of(text, node.end_mark) - (node.end_mark.column == 0))


def _places(text: str) -> dict[str, _Place]:
    """Return every key by its dotted path."""
    import yaml

    found: dict[str, _Place] = {}
    left: list[tuple[str, yaml.Node]] = [("", yaml.compose(text, yaml.SafeLoader) or yaml.MappingNode("", []))]
    while left:
        above, node = left.pop()
        if not isinstance(node, yaml.MappingNode):
            continue
        for key, value in node.value:
            name = f"{above}.{key.value}" if above else str(key.value)
            found[name] = _Place(_line_of(text, key.start_mark), key.start_mark.column, value)
            left.append((name, value))
    return found


def _written(value: Scalar) -> str:
    """Return a value as it stands in the file: quoted where it would be read as something else."""
    import yaml

    if not isinstance(value, str):
        return json.dumps(value)
    plain = set(value) <= _PLAIN and yaml.safe_load(f"a: {value}") == {"a": value}
    return value if plain else json.dumps(value)


def _not_by_lines(why: str) -> BadInput:
    return BadInput(tr("It cannot be edited line by line: {why}.", why=why))


def _by_hand(why: str, settings: Settings) -> BadInput:
    lines = [f"{name}: {_written(value)}" for name, value in settings if value is not None]
    gone = [name for name, value in settings if value is None]
    return BadInput(
        tr("The file cannot be edited: {why}", why=why),
        safe=tr("Nothing was written."),
        try_=(
            *((tr("Add to the file, one setting per line, and plan again: {lines}", lines="; ".join(lines)),)
              if lines else ()),
            *((tr("Remove from the file, and plan again: {names}", names=", ".join(gone)),) if gone else ()),
        ),
    )  # fmt: skip
