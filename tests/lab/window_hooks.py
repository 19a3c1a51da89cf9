"""The program's error hooks for a window that a test opens."""

from __future__ import annotations

from app.error_hooks import ErrorHooks


class TestedHooks(ErrorHooks):
    """pytest-qt hears Qt's messages already, and fails the test for them."""

    __test__ = False

    def install_qt(self) -> None:
        """Leave the message handler to pytest-qt."""
