"""The reason a benchmark gives when its other side can't be had on this machine."""


class Unavailable(Exception):  # noqa: N818 - reads as the sentence it prints
    """Raised by a benchmark's `run`; the message is printed below the table."""
