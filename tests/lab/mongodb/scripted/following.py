"""How a member gets what the primary wrote: by asking for the entries after its own last one, and applying them."""

from __future__ import annotations

import time

from tests.lab.mongodb.scripted.election import Elections
from tests.lab.mongodb.scripted.member import (
    CONFIG,
    NOWHERE,
    PRIMARY,
    ROLLBACK,
    SECONDARY,
    STARTUP2,
    VOTE,
    Member,
    Place,
)
from tests.lab.mongodb.scripted.store import OPLOG
from tests.lab.mongodb.scripted.wire import Doc, Refused, ask

_WAIT_S, _PAUSE_S, _BATCH = 0.3, 0.1, 2000


class Following:
    """One member's applier, and what it hands to those that follow it."""

    def __init__(self, member: Member, elections: Elections) -> None:
        self._me, self._elections = member, elections

    def pulled(self, asked: Doc) -> Doc:
        """Answer a follower: the entries after its last one, after a while if there are none yet."""
        me, after = self._me, Place(asked["after"], int(asked["term"]))
        deadline = time.monotonic() + _WAIT_S
        with me.lock:
            seen = me.seen.get(str(asked["from"]))
            if seen is None or me.last.ts == NOWHERE:
                raise Refused(93, "we do not know each other")
            seen.place = after
            me.moved.notify_all()
            if not any(row["ts"] == after.ts and int(row.get("t", -1)) == after.term for row in _end(me)):
                return {"diverged": me.state == PRIMARY, "entries": [], "ok": 1.0}
            while me.last.ts <= after.ts and (left := deadline - time.monotonic()) > 0:
                me.moved.wait(left)
            entries = [row for row in _end(me) if row["ts"] > after.ts]
            return {"diverged": False, "entries": entries[:_BATCH], "ok": 1.0}

    def cloned(self) -> Doc:
        """Hand over everything, to a member that begins."""
        me = self._me
        with me.lock:
            if me.last.ts == NOWHERE:
                raise Refused(93, "nothing to copy from")
            mine = {CONFIG, VOTE}
            return {
                "rows": [{"ns": ns, "rows": r} for ns, r in me.store.collections.items() if ns not in mine],
                "ok": 1.0,
            }

    def step(self) -> None:
        """Ask once, and apply; or pause where there is nobody to ask. Called without the lock."""
        me = self._me
        with me.lock:
            following = me.state in {SECONDARY, STARTUP2} and not me.held
            me.source = self._whom() if following else "" if not me.held else me.source
            source, last, fresh = me.source, me.last, me.state == STARTUP2
        if not source:
            time.sleep(_PAUSE_S)
            return
        try:
            if fresh:
                self._copy(source)
                return
            asked = {"replSetPull": 1, "from": me.name, "after": last.ts, "term": last.term}
            reply = ask(source, asked, limit_s=_WAIT_S + 2)
        except (OSError, EOFError, Refused):
            time.sleep(_PAUSE_S)
            return
        if reply["diverged"]:
            self._roll_back(source)
        else:
            self._apply(reply["entries"])

    def _whom(self) -> str:
        me = self._me
        primary = self._elections.primary()
        if primary and primary != me.name:
            return primary
        further = [h for h, s in me.seen.items() if s.up and s.state == SECONDARY and s.place.ts > me.last.ts]
        return further[0] if further else ""

    def _apply(self, entries: list[Doc]) -> None:
        me = self._me
        with me.lock:
            delay = int(me.own["slaveDelay"]) if me.own else 0
            ripe = [one for one in entries if not delay or one["ts"].time <= time.time() - delay]
            if me.state != SECONDARY or me.held or (ripe and ripe[0]["ts"] <= me.last.ts):
                return
            for entry in ripe:
                me.store.rows(OPLOG).append(entry)
                me.store.apply(entry)
            if ripe:
                me.store.save()
                me.moved.notify_all()
        if not ripe:
            time.sleep(_PAUSE_S if entries else 0.0)

    def _roll_back(self, source: str) -> None:
        """What it has and the primary has not is given up."""
        me = self._me
        with me.lock:
            me.state, me.rbid = ROLLBACK, me.rbid + 1
        try:
            self._copy(source)
        except (OSError, EOFError, Refused):
            with me.lock:
                me.state = SECONDARY

    def _copy(self, source: str) -> None:
        me = self._me
        reply = ask(source, {"replSetClone": 1}, limit_s=10)
        with me.lock:
            if me.state not in {STARTUP2, ROLLBACK}:
                return
            own = {ns: rows for ns, rows in me.store.collections.items() if ns in {CONFIG, VOTE}}
            me.store.collections = {one["ns"]: one["rows"] for one in reply["rows"]} | own
            me.store.save()
            me.state = SECONDARY
            me.moved.notify_all()


def _end(member: Member) -> list[Doc]:
    """The newest entries: nobody is further behind in a test."""
    return member.store.collections.get(OPLOG, [])
