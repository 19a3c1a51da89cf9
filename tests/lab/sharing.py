"""How the lab's tests are shared out between processes: by the estate they need, each file whole.

Each process steers an estate of its own, so a file of procedures may go to any. Of every other estate there is
one, held for a whole session: what needs one of those stays together, MySQL's and MongoDB's apart. What has
the most tests is begun first, what has equally many in the order of the collection; the many short refusals go one by
one and last: they fill what the long files leave open at the end (pytest-xdist, pytest_xdist_make_scheduler).
"""

from __future__ import annotations

import os

from xdist.scheduler import LoadScopeScheduling

TOGETHER = "the other estates"
_PROCEDURES, _MYSQL, _MONGODB = "tests/lab/procedures/", "tests/lab/mysql/", "tests/lab/mongodb/"
_ONE_BY_ONE = "tests/lab/procedures/test_refusals.py"


def scope_of(nodeid: str) -> str:
    """Return what a test goes together with."""
    path = nodeid.partition("::")[0]
    for apart in (_MYSQL, _MONGODB):
        if path.startswith(apart):
            return apart
    if os.environ.get("PILOTHOUSE_LAB_GALERA") or not path.startswith(_PROCEDURES):
        return TOGETHER
    return nodeid if path == _ONE_BY_ONE else path


def fills_gaps(nodeid: str) -> bool:
    """Return whether a test goes by itself, to be shared out behind all others."""
    return nodeid.startswith(_ONE_BY_ONE)


class ByEstate(LoadScopeScheduling):  # type: ignore[misc]
    """Shares out by `scope_of`."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)
