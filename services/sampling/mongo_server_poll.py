"""The poll of a MongoDB server as whoever watches a host sees it (server_poll.py)."""

from __future__ import annotations

from services.clock import Clock
from services.connections.ports import ObserverSession
from services.discovery.looks.probe_mongodb import facts_from_answer
from services.errors import Dropped
from services.sampling.mongo_poll import MongoPoll, MongoResult, poll_mongodb
from services.sampling.polled import Polled
from services.sampling.settings import WatchSettings


class MongoServerPoll:
    """Polls one mongod or mongos again and again."""

    def __init__(self, session: ObserverSession, clock: Clock, settings: WatchSettings) -> None:
        self._session = session
        self._clock = clock
        self._settings = settings
        self._poll = MongoPoll()

    def poll(self) -> Polled:
        """Ask once; once more over a new connection where this one ended."""
        try:
            result = self._asked()
        except Dropped:
            # A member that steps down, or rolls back, ends every session and serves on: only a new one tells.
            self.forget()
            result = self._asked()
        return Polled(
            result.at,
            result.mono,
            lambda previous: facts_from_answer(previous, result.answer, result.at, round_trip_s=result.round_trip_s),
            lambda _facts: dict(result.values),
        )

    def _asked(self) -> MongoResult:
        return poll_mongodb(self._session, self._poll, self._clock, self._settings)

    def forget(self) -> None:
        """Forget what was learned over a connection that is lost."""
        self._poll = MongoPoll()
