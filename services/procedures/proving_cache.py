"""A condition about the write-set cache: for how long it keeps what is written from now on.

Method 2 of services.sampling.ist_reach: gcache.size by the rate, a margin taken off. How much the ring holds now does
not matter: the node that goes down needs what is written after it.
"""

from __future__ import annotations

import math

from services.facts.provider_options import provider_options
from services.facts.reading import size
from services.procedures.conditions import Answer, CacheLasts
from services.procedures.gather_server import WRITTEN, rates_of
from services.procedures.ports import Past
from services.procedures.proving_asking import SQL_LIMIT_S, Asking
from services.sampling.ist_reach import MARGIN

SPAN_S = 2.0


def cache_lasts(condition: CacheLasts, asking: Asking, past: Past) -> Answer:
    """Measure the rate over two seconds, and compare how long the ring lasts at it."""
    del past
    host, session = condition.host, asking.session(condition.host)
    options = provider_options(asking.variable(host, "wsrep_provider_options") or "")
    ring = size(options.get("gcache.size", ""))
    began, before = asking.clock.monotonic(), session.query(WRITTEN, limit_s=SQL_LIMIT_S)
    asking.clock.sleep(SPAN_S)
    after, ended = session.query(WRITTEN, limit_s=SQL_LIMIT_S), asking.clock.monotonic()
    rates = rates_of(before, after, ended - began)
    if ring is None or rates is None:
        return Answer(holds=None, evidence=f"how long the cache of {host} lasts could not be read")
    lasts = math.inf if rates.bytes_s <= 0 else MARGIN * ring / rates.bytes_s
    shown = "without end (nothing is written)" if math.isinf(lasts) else f"{lasts:.0f} s"
    return Answer(lasts >= condition.seconds, f"the cache of {host} lasts {shown}; {condition.seconds:g} s are wanted")
