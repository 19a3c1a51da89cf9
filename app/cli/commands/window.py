"""No subcommand: the window on the live estate; `demo`: the same window on the recording that comes along."""

from __future__ import annotations

from argparse import Namespace

from app.plain_imports import import_qt


def run(options: Namespace) -> int:
    """Open the window; return the exit code."""
    import_qt()
    from app.window.window_run import run_window  # after it: this imports the rest of Qt

    if options.command == "demo":
        from app.places import demo_recording

        return run_window(options, recording=demo_recording(options.story), autoplay=True)
    return run_window(options, recording=None)
