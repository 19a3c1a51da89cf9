"""How the lab's tests are shared out between processes: by the estate they need, each file whole.

Each process steers an estate of its own, so a file of procedures may go to any. Of every other estate there is
one, held for a whole session: what needs one of those stays together, MySQL's apart from the others
(pytest-xdist, pytest_xdist_make_scheduler).
"""

from __future__ import annotations

import os

from xdist.scheduler import LoadScopeScheduling

TOGETHER = "the other estates"
_PROCEDURES, _MYSQL = "tests/lab/procedures/", "tests/lab/mysql/"


def scope_of(nodeid: str) -> str:
    """Return what a test goes together with."""
    path = nodeid.partition("::")[0]
    if path.startswith(_MYSQL):
        return _MYSQL
    if os.environ.get("PILOTHOUSE_LAB_GALERA") or not path.startswith(_PROCEDURES):
        return TOGETHER
    return path


class ByEstate(LoadScopeScheduling):  # type: ignore[misc]
    """Shares out by `scope_of`."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)
