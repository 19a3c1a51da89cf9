"""Heartbeats and elections: the members of a set ask each other over the wire, and a majority of votes decides."""

from __future__ import annotations

import random
import time
from typing import Any

from bson.int64 import Int64

from tests.lab.mongodb.scripted.member import (
    DOWN,
    DOWN_S,
    ELECTION_S,
    HEARTBEAT_S,
    PRIMARY,
    REMOVED,
    SECONDARY,
    STARTUP,
    VOTE,
    Member,
    Place,
    Seen,
)
from tests.lab.mongodb.scripted.set_config import majority_of
from tests.lab.mongodb.scripted.wire import Doc, Refused, ask

_VOTE_LEASE_S = 1.0
"""Under protocolVersion 0 a member votes once in a while (really: 30 s), under 1 once a term."""
_CAUGHT_UP_S = 10


class Elections:
    """What one member asks the others, answers them, and concludes."""

    def __init__(self, member: Member) -> None:
        self._me = member
        self._newer: set[str] = set()
        self._voted_at = 0.0
        self._voted_for = ""
        self._alone_since: float | None = None
        self._patience = ELECTION_S

    # -- what it answers

    def heartbeat(self, told: Doc) -> Doc:
        """Answer a heartbeat: who one is; with the configuration where the asker's is older."""
        me, sender = self._me, str(told.get("from", ""))
        with me.lock:
            if told.get("replSetHeartbeat") != me.options["--replSet"]:
                raise Refused(93, "repl set names do not match")
            version = int(me.config["version"]) if me.config else -2
            if sender in me.seen:
                me.seen[sender].received = time.time()
            if sender and int(told.get("configVersion", -2)) > version:
                self._newer.add(sender)
                me.moved.notify_all()
            me.learn_term(int(told.get("term", -1)))
            answer: Doc = {"set": told["replSetHeartbeat"], "state": me.shown_state(), "v": version, "e": True}
            answer |= {"hbmsg": "", "term": Int64(me.term), "opTime": me.last.form(1), "syncingTo": me.source}
            answer |= {"electionTime": me.elected} if me.state == PRIMARY else {}
            if me.config is not None and int(told.get("configVersion", -2)) < version:
                answer["config"] = me.config
        return {**answer, "ok": 1.0}

    def vote(self, asked: Doc) -> Doc:
        """Answer a candidate."""
        me = self._me
        with me.lock:
            reason = self._veto(asked)
            if not reason and not asked["dryRun"]:
                me.learn_term(int(asked["term"]))
                if not me.protocol and me.state == PRIMARY:
                    me.step_down()
                me.voted, self._voted_at, self._voted_for = int(asked["term"]), time.monotonic(), asked["candidate"]
                me.store.collections[VOTE] = [{"_id": 0, "term": Int64(me.voted), "candidate": asked["candidate"]}]
                me.store.save()
            return {"term": Int64(me.term), "voteGranted": not reason, "reason": reason, "ok": 1.0}

    def _veto(self, asked: Doc) -> str:
        me = self._me
        if me.config is None or me.own is None or not me.own["votes"] or me.state in {STARTUP, REMOVED}:
            return "not a voter"
        if int(asked["configVersion"]) != me.config["version"]:
            return "candidate's config version differs from mine"
        if me.newer_than(Place(asked["optime"]["ts"], int(asked["optime"]["t"]))):
            return "candidate's data is staler than mine"
        if me.protocol:
            known = me.term if asked["dryRun"] else max(me.term, me.voted + 1)
            return "" if int(asked["term"]) >= known else "candidate's term is lower than mine, or I voted in it"
        wanted = _priority(me.config, str(asked["candidate"]))
        primary = self.primary()
        if primary and primary != asked["candidate"] and _priority(me.config, primary) >= wanted:
            return "there is a primary"
        voted = self._voted_for not in {"", asked["candidate"]} and time.monotonic() - self._voted_at < _VOTE_LEASE_S
        return "I voted for another" if voted else ""

    # -- what it asks

    def beat(self) -> None:
        """Ask every other member once, then conclude. Called without the lock."""
        me = self._me
        with me.lock:
            hosts = [one["host"] for one in me.others]
            newer, self._newer = self._newer, set()
        for host in {*newer, *hosts}:
            self.ask_one(host)
        with me.lock:
            self._judge()
            stand = self._stands()
        if stand:
            self._run()

    def ask_one(self, host: str) -> bool:
        """Send one heartbeat, and note the answer, or that there was none."""
        me = self._me
        with me.lock:
            version = int(me.config["version"]) if me.config else -2
            asked = {"replSetHeartbeat": me.options["--replSet"], "configVersion": version, "from": me.name}
            asked["term"] = Int64(me.term)
        try:
            reply = ask(host, asked, limit_s=1.0)
        except (OSError, EOFError, Refused) as problem:
            self._lost(host, problem)
            return False
        with me.lock:
            self._heard(host, reply)
        return True

    def _lost(self, host: str, problem: Exception) -> None:
        me = self._me
        with me.lock:
            seen = me.seen.get(host)
            if seen is None:
                return
            refused = isinstance(problem, ConnectionRefusedError)
            if refused or time.time() - seen.heard > DOWN_S:
                said = (
                    "Connection refused"
                    if refused
                    else str(problem) or "Couldn't get a connection within the time limit"
                )
                me.seen[host] = Seen(state=DOWN, heard=seen.heard, received=seen.received, said=said)
                me.moved.notify_all()

    def _heard(self, host: str, told: dict[str, Any]) -> None:
        me = self._me
        config = told.get("config")
        ours = config is not None and config["_id"] == me.options["--replSet"]
        if config is not None and ours and (me.config is None or config["version"] > me.config["version"]):
            me.install(config)
        me.learn_term(int(told["term"]))
        seen = me.seen.get(host)
        if seen is None:
            return
        now = time.time()
        seen.since = seen.since if seen.up else now
        seen.up, seen.heard, seen.state, seen.version = True, now, int(told["state"]), int(told["v"])
        place = Place(told["opTime"]["ts"], int(told["opTime"]["t"]))
        seen.place, seen.source, seen.said = place, str(told["syncingTo"]), ""
        seen.elected = told.get("electionTime")
        me.moved.notify_all()

    # -- what it concludes

    def primary(self) -> str:
        """The member that is primary, as far as this one knows, '' for none."""
        me = self._me
        if me.state == PRIMARY:
            return me.name
        found = [(s.elected.time, s.elected.inc, h) for h, s in me.seen.items() if s.up and s.elected is not None]
        return max(found)[2] if found else ""

    def _judge(self) -> None:
        me = self._me
        now = time.monotonic()
        if me.config is None or me.own is None:
            return
        up = int(me.own["votes"]) + sum(int(one["votes"]) for one in me.others if me.seen[one["host"]].up)
        self._alone_since = None if up >= majority_of(me.config) else self._alone_since or now
        if me.state == PRIMARY:
            rivals = [s.elected for s in me.seen.values() if s.up and s.elected is not None]
            outdone = not me.protocol and me.elected is not None and any(r > me.elected for r in rivals)
            if outdone or (self._alone_since is not None and now - self._alone_since >= ELECTION_S):
                me.step_down()
        elif self.primary():
            me.primary_at = now

    def _stands(self) -> bool:
        """Whether it asks for votes now: there is no primary, or one that it outranks and keeps up with."""
        me, now = self._me, time.monotonic()
        own = me.own
        if own is None or me.state != SECONDARY or me.maintenance or own["priority"] <= 0:
            return False
        if self._alone_since is not None or now < me.may_not_before:
            return False
        primary = self.primary()
        if primary and me.config is not None:
            close: bool = me.seen[primary].place.ts.time - me.last.ts.time <= _CAUGHT_UP_S
            return (
                close and _priority(me.config, primary) < own["priority"] and not me.newer_than(me.seen[primary].place)
            )
        if not me.others:
            return True
        rank = sum(one["priority"] > own["priority"] for one in me.others if me.seen[one["host"]].up)
        return bool(now - me.primary_at >= self._patience * (1 + 0.3 * rank))

    def _run(self) -> None:
        """Ask for votes: whether one would win first, so that nobody's term is spent on a hopeless one."""
        self._patience = ELECTION_S * random.uniform(0.7, 1.3)
        if self._poll(dry=True):
            self._poll(dry=False)

    def _poll(self, *, dry: bool) -> bool:
        me = self._me
        with me.lock:
            if me.config is None or me.own is None or me.state != SECONDARY:
                return False
            config, term = me.config, me.term
            if not dry and me.protocol:
                me.term = me.voted = term = term + 1
                me.store.collections[VOTE] = [{"_id": 0, "term": Int64(term), "candidate": me.name}]
                me.store.save()
            self._voted_for, self._voted_at = ("", 0.0) if dry else (me.name, time.monotonic())
            asked = {"replSetRequestVotes": 1, "term": Int64(term), "candidate": me.name, "dryRun": dry}
            asked |= {"configVersion": config["version"], "optime": me.last.form(1)}
            votes = int(me.own["votes"])
            voters = [one["host"] for one in me.others if one["votes"]]
        for host in voters:
            votes += self._granted(host, asked)
        with me.lock:
            won = votes >= majority_of(config) and me.config is config and me.state == SECONDARY and me.term == term
            if won and not dry:
                me.become_primary()
                me.store.save()
        return won

    def _granted(self, host: str, asked: Doc) -> bool:
        try:
            reply = ask(host, asked, limit_s=1.0)
        except (OSError, EOFError, Refused):
            return False
        with self._me.lock:
            self._me.learn_term(int(reply["term"]))
        return bool(reply["voteGranted"])

    def wait(self) -> None:
        """Until the next heartbeat is due, or something newer was heard of."""
        deadline = time.monotonic() + HEARTBEAT_S
        with self._me.lock:
            while not self._newer and (left := deadline - time.monotonic()) > 0:
                self._me.moved.wait(left)


def _priority(config: Doc, host: str) -> float:
    return next((float(one["priority"]) for one in config["members"] if one["host"] == host), 0.0)
