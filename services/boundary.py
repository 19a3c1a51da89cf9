"""The boundary to what is foreign: drivers, libraries, files, the desktop. What they raise becomes one sentence.

Nobody can list what a foreign thing raises, and one that is odd must not end the work on all others. So each port of
the house (a host's session, the vault, the history) has this boundary at its door: out of it comes a UserError, which
is about that one thing. What was raised is kept for the log (`--verbose`); a person reads no traceback.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from services.errors import PilothouseError, Unforeseen, UserError
from services.i18n import tr
from services.visible import as_line

log = logging.getLogger(__name__)
T = TypeVar("T")
C = TypeVar("C")
_MOST = 300
PORTS: dict[str, type] = {}
"""Every class that has the boundary at its door, by its module and name; filled as their modules are loaded."""


def why(problem: BaseException) -> str:
    """Return what an exception says, in one line: the system's own words, else its class and text."""
    if isinstance(problem, UserError):
        return problem.sentence
    if isinstance(problem, OSError) and problem.strerror:
        of = f" ({problem.filename})" if problem.filename else ""
        return as_line(f"{problem.strerror}{of}", _MOST)
    kind, text = type(problem).__name__, as_line(str(problem), _MOST)
    return f"{kind}: {text}" if text else kind


def unforeseen(problem: BaseException, what: str, host: str = "") -> Unforeseen:
    """Return the error for what nobody foresaw; `what` did it: 'The connection to the host'."""
    return Unforeseen(
        tr("{what} failed with an unexpected error: {why}.", what=what, why=why(problem).rstrip(".")),
        host=host,
        safe=tr("Everything else continues."),
        try_=(tr("Repeat the command with --verbose, and report the error with the additional lines."),),
    )


@contextlib.contextmanager
def foreign(told: Callable[[BaseException], UserError]) -> Iterator[None]:
    """Let nothing but this house's own errors out of a with block; `told` makes one of any other exception.

    Also of one that is no Exception (a panic of a library in Rust), but for those that end the program.
    """
    try:
        yield
    except (PilothouseError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as problem:
        log.debug("of something foreign", exc_info=problem)
        raise told(problem) from problem


def bounded(told: Callable[[Any, BaseException], UserError]) -> Callable[[type[C]], type[C]]:
    """Return a decorator of a port's class: out of its public methods comes nothing but this house's own errors.

    `told` is given the object (of a class method: the class) and what was raised.
    """

    def decorated(port: type[C]) -> type[C]:
        for name, member in list(vars(port).items()):
            if name.startswith("_"):
                continue
            if isinstance(member, classmethod):
                setattr(port, name, classmethod(_guarded(member.__func__, told)))
            elif inspect.isgeneratorfunction(member):
                setattr(port, name, _guarded_lines(member, told))
            elif inspect.isfunction(member):
                setattr(port, name, _guarded(member, told))
        PORTS[f"{port.__module__}.{port.__qualname__}"] = port
        return port

    return decorated


def _guarded(method: Callable[..., T], told: Callable[[Any, BaseException], UserError]) -> Callable[..., T]:
    @functools.wraps(method)
    def guarded(own: Any, *given: Any, **named: Any) -> T:
        with foreign(lambda problem: told(own, problem)):
            return method(own, *given, **named)

    return guarded


def _guarded_lines(
    method: Callable[..., Iterator[T]], told: Callable[[Any, BaseException], UserError]
) -> Callable[..., Iterator[T]]:
    @functools.wraps(method)
    def guarded(own: Any, *given: Any, **named: Any) -> Iterator[T]:
        with foreign(lambda problem: told(own, problem)):
            yield from method(own, *given, **named)

    return guarded
