"""The metric catalogue: what can be charted, as data (resources/metrics.toml), checked when it is read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

import msgspec
import numpy as np

from services.errors import BadInput
from services.history.columns.values import Columns
from services.i18n import tr
from services.sampling.metrics.formula import Formula, FormulaError, Frame, parse
from services.sampling.model import Metric
from services.series import Array


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """resources/metrics.toml as written."""

    metric: list[Metric]
    terms: dict[str, str] = {}


@dataclass(frozen=True)
class Catalogue:
    """Metrics in the order of the file, their checked formulas, and the terms the formulas may use."""

    metrics: tuple[Metric, ...]
    formulas: Mapping[str, Formula]
    terms: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Metric]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def metric(self, key: str) -> Metric | None:
        """Return the entry of a key, None when it is a raw key."""
        return next((m for m in self.metrics if m.key == key), None)

    def formula(self, key: str) -> Formula:
        """Return the formula of a catalogue metric, of a raw key, or of an expression a person typed.

        Raises:
            BadInput: the text is neither.
        """
        known = self.formulas.get(key)
        if known is not None:
            return known
        try:
            return _raw(key) if _is_key(key) else parse(key, self.terms)
        except FormulaError as problem:
            raise BadInput(
                tr("{key!r} is neither a metric nor a formula: {problem}.", key=key, problem=problem)
            ) from problem

    def derive(self, columns: Columns) -> dict[str, Array]:
        """Return every catalogue metric of an hour of raw columns; what a server doesn't offer is left out."""
        frame = Frame(columns.t, columns.mono, columns.epochs, columns.values)
        known = tuple(columns.values)
        derived: dict[str, Array] = {}
        for metric in self.metrics:
            formula = self.formulas[metric.key]
            if any(key in columns.values for key in formula.needs(known)):
                values = formula.evaluate(frame)
                if not np.isnan(values).all():
                    derived[metric.key] = values
        return derived


def _is_key(text: str) -> bool:
    return all(c.isalnum() or c in "._-:" for c in text) and not (text[:1].isascii() and text[:1].isdigit())


def _raw(key: str) -> Formula:
    return parse(f'raw("{key}")')


def build(metrics: Sequence[Metric], terms: Mapping[str, str]) -> Catalogue:
    """Check metrics and return the catalogue; raise BadInput naming the first that can't be used."""
    formulas: dict[str, Formula] = {}
    for metric in metrics:
        if metric.key in formulas:
            raise BadInput(tr("The metric {key!r} appears twice in the catalogue.", key=metric.key))
        try:
            formulas[metric.key] = parse(metric.formula, terms)
        except FormulaError as problem:
            raise BadInput(
                tr("The metric {key!r} has a formula that cannot be used: {problem}.", key=metric.key, problem=problem)
            ) from problem
    return Catalogue(tuple(metrics), formulas, dict(terms))


@cache
def load_catalogue() -> Catalogue:
    """Return the catalogue that comes with the program."""
    text = files("resources").joinpath("metrics.toml").read_text(encoding="utf-8")
    return parse_catalogue(text)


def parse_catalogue(text: str) -> Catalogue:
    """Return the catalogue of a TOML text; raise BadInput with the place when it can't be used."""
    try:
        raw = tomllib.loads(text)
        content = msgspec.convert(raw, _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as problem:
        raise BadInput(tr("The metric catalogue cannot be read: {problem}.", problem=problem)) from problem
    return build(content.metric, content.terms)
