"""The arithmetic as lines for people: what, by which formula with the numbers in it, and what comes out.

Terminal and window show the same lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.backup_chunks.advice import SHARE_OF_MEMORY
from services.backup_chunks.model import MIB, Backup, Outcome
from services.i18n import tr
from services.moments import duration

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_THIN = "\u202f"
_LEAST_PERCENT = 0.0001


@dataclass(frozen=True, slots=True)
class Line:
    """One result.

    Attributes:
        code: stable, for machines and tests; name: what it is; formula: with its numbers; value: what comes out.
    """

    code: str
    name: str
    formula: str
    value: str


def size_words(size: float) -> str:
    """Return bytes in SI units, three figures: '8 TB', '160 MB'."""
    power = 0
    while abs(size) >= 999.5 and power < len(_UNITS) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.3g}{_THIN}{_UNITS[power]}"


def chunk_words(size: int) -> str:
    """Return a chunk as the options set it, in MiB, with the same in SI units: '96 MiB (101 MB)'."""
    return f"{size // MIB}{_THIN}MiB ({size_words(size)})" if size % MIB == 0 else size_words(size)


def count_words(number: int) -> str:
    """Return a count with its thousands apart."""
    return f"{number:,}".replace(",", _THIN)


def odds_words(share: float) -> str:
    """Return a probability in percent: '0.08 %', '99.97 %'; what is nearly never or nearly always is no end of it."""
    percent = share * 100
    if 0 < percent < _LEAST_PERCENT:
        return f"< {_LEAST_PERCENT}{_THIN}%"
    if 99.99 <= percent < 100:
        return f"> 99.99{_THIN}%"
    return f"{percent:.2f}{_THIN}%" if 99 < percent < 100 else f"{percent:.2g}{_THIN}%".replace("1e+02", "100")


def money_words(amount: float) -> str:
    """Return an amount of the currency that the prices are in: two places, small ones with three."""
    return f"{amount:.2f}" if amount >= 0.995 or not amount else f"{amount:.3f}".rstrip("0").ljust(4, "0")


def options_of(backup: Backup, chunk: int) -> str:
    """Return the options that set a chunk of so many bytes, a multiple of 1 MiB."""
    mib = f"{chunk // MIB}M"
    return f"--read-buffer-size={mib}" + (f" --encrypt-chunk-size={mib}" if backup.encrypted else "")


def lines_of(backup: Backup, outcome: Outcome) -> tuple[Line, ...]:
    """Return every result of one chunk size."""
    return (*_counted(backup, outcome), *_paid(backup, outcome), *_odds(backup, outcome), *_needed(backup, outcome))


def _counted(backup: Backup, outcome: Outcome) -> Iterator[Line]:
    objects, chunk = outcome.objects, size_words(outcome.chunk)
    if objects.files is None:
        formula = f"N = S / C = {size_words(backup.stored)} / {chunk}"
        yield Line("objects", tr("objects, at least"), formula, count_words(objects.count))
        return
    formula = f"N = Σ ceil(size·q / C), {count_words(objects.files)} files, q = {backup.ratio:g}, C = {chunk}"
    between = f"{count_words(objects.count)} ({count_words(objects.least)} … {count_words(objects.most or 0)})"
    yield Line("objects", tr("objects"), formula, between)


def _paid(backup: Backup, outcome: Outcome) -> Iterator[Line]:
    prices, many = backup.prices, count_words(outcome.objects.count)
    parts = f"{prices.store:g} + {prices.verify:g} + {prices.move:g}"
    costs = " + ".join(map(money_words, (outcome.store_cost, outcome.verify_cost, outcome.move_cost)))
    yield Line(
        "operations", tr("operations of one backup: store, verify, move"),
        f"N / 10{_THIN}000 · (pA + pB + pA2) = {many} / 10{_THIN}000 · ({parts}) = {costs}",
        money_words(outcome.operations_cost),
    )  # fmt: skip
    yield Line(
        "storage", tr("storage of one month"),
        f"S · pS = {size_words(backup.stored)} · {prices.gb_month:g}/GB; "
        + tr("operations are {share} of both", share=odds_words(outcome.operations_share)),
        money_words(outcome.storage_cost),
    )  # fmt: skip


def _odds(backup: Backup, outcome: Outcome) -> Iterator[Line]:
    network, many = backup.network, count_words(outcome.objects.count)
    apart = f"1 − (1 − p^r)^N = 1 − (1 − {network.error:g}^{network.attempts})^{many}"
    yield Line("fails", tr("the backup fails, independent errors"), apart, odds_words(outcome.fails))
    lasting = f"1 − (1 − p·pc^(r−1))^N = 1 − (1 − {network.error:g}·{network.again:g}^{network.attempts - 1})^{many}"
    yield Line("fails-in-outage", tr("the backup fails, lasting errors"), lasting, odds_words(outcome.fails_in_outage))


def _needed(backup: Backup, outcome: Outcome) -> Iterator[Line]:
    network, many = backup.network, count_words(outcome.objects.count)
    fixed = f"{many} · {network.object_s * 1000:g} ms / {backup.uploads}"
    if outcome.seconds is None or network.rate is None:
        words = tr("{time}, plus the transfer: the network bandwidth is not known", time=duration(outcome.objects_s))
        yield Line("time", tr("time"), f"T = S / B + N·t0 / K, N·t0 / K = {fixed}", words)
    else:
        sent = f"{size_words(backup.stored)} / {size_words(network.rate)}/s"
        yield Line("time", tr("time"), f"T = S / B + N·t0 / K = {sent} + {fixed}", duration(outcome.seconds))
    chunk = size_words(outcome.chunk)
    formula = f"P·C + E·2C + K·C = ({backup.parallel} + 2·{backup.encrypt_threads} + {backup.uploads}) · {chunk}"
    yield Line("memory", tr("memory, at most"), formula, _memory(backup, outcome))


def _memory(backup: Backup, outcome: Outcome) -> str:
    bound = size_words(outcome.memory)
    if backup.free_memory is None:
        return tr("{bound}; free memory is not known", bound=bound)
    allowed = size_words(backup.free_memory * SHARE_OF_MEMORY)
    if outcome.memory > backup.free_memory * SHARE_OF_MEMORY:
        return tr("{bound}: more than a quarter of the free memory ({allowed})", bound=bound, allowed=allowed)
    return tr("{bound}, within a quarter of the free memory ({allowed})", bound=bound, allowed=allowed)
