"""An event longer than a reader takes: cut before it is written, and where an older program wrote it whole.

A server's error may be as long as it likes; what happened, where and when is told all the same.
"""

from __future__ import annotations

from dataclasses import replace

from services.events import Event
from services.history.recordings.bounds import MOST_EVENT, MOST_NAME
from services.i18n import english, tr_n
from services.json_text import stored_json

_KEPT = 7_000
"""Letters of a text that was cut: JSON writes six bytes for one at most, and three names stand beside it."""
MOST_WHOLE = 2**20
"""Characters of an event that is read to be cut, and how many such are: a file may come from anybody."""
MOST_CUT = 20


def event_json(event: Event) -> str:
    """Return JSON of an event, at most MOST_EVENT characters."""
    text = stored_json(event).decode()
    return text if len(text) <= MOST_EVENT else stored_json(shortened(event)).decode()


def shortened(event: Event) -> Event:
    """Return a long event with the beginning of its sentence, and the word that it was cut."""
    text = english(event.text)
    more = len(text) - _KEPT
    if more > 0:
        shown = tr_n("{text}… (cut here: {n} character more)", "{text}… (cut here: {n} characters more)", more,
                    text=text[:_KEPT])  # fmt: skip
        event = replace(event, text=shown)
    ids = {name: getattr(event, name)[:MOST_NAME] for name in ("cluster_id", "node_id", "key")}
    return replace(event, **ids)
