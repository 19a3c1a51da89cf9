"""What the lab raises: one exception whose text says which command or wait failed, and the last reason."""

from __future__ import annotations


class LabError(RuntimeError):
    """The lab could not do what was asked; the message is meant for the person at the terminal."""


class NotToBeHadError(LabError):
    """What the lab needs from outside can't be had today; nothing is wrong with the lab or the program."""


class LabTimeoutError(LabError):
    """A bounded wait ran out; the message carries what was awaited and the last reason it was not so."""
