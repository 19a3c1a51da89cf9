"""wsrep_provider_options is one string of many keys: a new value is merged into it key by key. Pure.

The server hands the whole string of the last option file to the provider: written alone, a value of one key would put
all others back to the provider's defaults (Galera documentation, "Galera Parameters", "Setting Galera Parameters").
"""

from __future__ import annotations

from services.facts.server.harmless_options import normal
from services.facts.server.option_files import provider_options_of
from services.facts.server.values import same
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.server.options import Options

PROVIDER = "wsrep_provider_options"


def keys_of(option: str, value: str) -> tuple[tuple[str, str], ...]:
    """Return the provider's keys that a value sets; () for any other option."""
    return provider_options_of(value) if normal(option) == PROVIDER else ()


def value_for(host: HostFacts, option: str, value: str) -> str:
    """Return what a node's file is to say: the value, of the provider's string with the keys that stand there."""
    new = keys_of(option, value)
    return "; ".join(f"{key}={text}" for key, text in {**_given(host), **dict(new)}.items()) if new else value


def would_drop(host: HostFacts, option: str, value: str) -> tuple[str, ...]:
    """Return the keys of a node's files, with their values, that the value written alone would drop."""
    new = dict(keys_of(option, value))
    return tuple(f"{key}={text}" for key, text in _given(host).items() if key not in new) if new else ()


def runs_with(host: HostFacts, option: str, value: str) -> bool:
    """Return whether the running provider has every key of the value so."""
    return all((now := host[Provider].option(key)) is not None and same(now, text)
               for key, text in keys_of(option, value))  # fmt: skip


def _given(host: HostFacts) -> dict[str, str]:
    return dict(provider_options_of(host[Options].option("mysqld", PROVIDER) or ""))
