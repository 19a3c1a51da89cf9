"""What a person reads of an event: its sentence and how long it lasted, also where nobody saw its end. Pure."""

from __future__ import annotations

from services.events import Event
from services.i18n import tr
from widgets.common.look.text import format_clock, format_duration, format_moment

_DAY_S = 86_400.0


def sentence(event: Event) -> str:
    """Return the event's sentence; of a span that was not over when watching stopped, that too."""
    if not event.unseen_end or event.until is None:
        return event.text
    far = event.until - event.at >= _DAY_S
    when = format_moment(event.until) if far else format_clock(event.until, seconds=False)
    return tr(
        "{sentence}; still in progress when Pilothouse stopped watching (at {when})", sentence=event.text, when=when
    )


def lasted(event: Event) -> str:
    """Return how long an event lasted: '' for a moment, 'still on' while it lasts, '... or more' without an end."""
    if not event.spans:
        return ""
    if event.until is None:
        return tr("still on")
    span = event.until - event.at
    if not event.unseen_end:
        return format_duration(span)
    return tr("{span} or more", span=format_duration(span)) if span > 0 else tr("not known")


def when(event: Event, now: float) -> str:
    """Return from when to when an event was, by the clock."""
    if not event.spans:
        return format_clock(event.at)
    if event.until is None:
        return tr("{at}, for {span} so far", at=format_clock(event.at), span=format_duration(round(now - event.at)))
    if event.unseen_end:
        return tr("{at}, {span}", at=format_clock(event.at), span=lasted(event))
    return tr(
        "{at} to {until}, {span}",
        at=format_clock(event.at),
        until=format_clock(event.until),
        span=format_duration(round(event.until - event.at)),
    )
