"""A replica set of real MongoDB servers on hosts of their own, watched as a console does it, while it is broken."""

from __future__ import annotations
