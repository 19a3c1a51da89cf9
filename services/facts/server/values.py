"""How two values of a variable compare, as a server reads them: ON is 1, 1G is 1073741824. Pure."""

from __future__ import annotations

from services.facts.reading import flag, real, seconds, sized

OFF_WORDS = frozenset({"0", "off", "no", "false"})
"""What an option file or a command line says to switch something off, in small letters."""


def compared(left: str, comparison: str, right: str) -> bool | None:
    """Return how two texts compare: = and != as text (see `same`), else as numbers ("70K" is 71680); None: can't."""
    if comparison in {"=", "!="}:
        return same(left, right) is (comparison == "=")
    low, high = _amount(left), _amount(right)
    if low is None or high is None:
        return None
    return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[comparison]


def same(left: str, right: str) -> bool:
    """Return whether two values of a variable are the same: case does not count, ON is 1 and YES, 3.0 is 3.

    PT1M is PT60S, and 1G is 1073741824: the suffixes that a server reads in option files (MySQL manual, "Using Options
    to Set Program Variables").
    """
    one, other = left.strip(), right.strip()
    if one.lower() == other.lower():
        return True
    switches = flag(one), flag(other)
    if None not in switches:
        return switches[0] == switches[1]
    numbers = _amount(one), _amount(other)
    return None not in numbers and numbers[0] == numbers[1]


def _amount(value: str) -> float | None:
    number = sized(value)
    told = real(value) if number is None else float(number)
    return seconds(value) if told is None else told
