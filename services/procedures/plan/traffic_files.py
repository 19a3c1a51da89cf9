"""Which files Galera's traffic needs by a host's option files: the provider's library, certificates and keys. Pure."""

from __future__ import annotations

from services.connections.allowlist_paths import is_clean
from services.facts.option_files import provider_options_of
from services.procedures.plan.host_facts import HostFacts

SST_FILES = ("tca", "tcert", "tkey", "ssl_ca", "ssl_cert", "ssl_key")
PROVIDER_FILES = ("socket.ssl_ca", "socket.ssl_cert", "socket.ssl_key")


def tls_files(host: HostFacts) -> tuple[tuple[str, str], ...]:
    """Return (option, path) of the certificates and keys that a host's own option files name for Galera's traffic."""
    sst = [(f"[sst] {name}", value) for name in SST_FILES if (value := host.option("sst", name))]
    given = dict(provider_options_of(host.option("mysqld", "wsrep_provider_options") or ""))
    provider = [(name, given[name]) for name in PROVIDER_FILES if given.get(name)]
    return tuple((name, path) for name, path in (*sst, *provider) if is_clean(path))


def library_of(host: HostFacts) -> str:
    """Return the path of a host's provider: the running server's, else its option files'; '' for none."""
    path = host.provider_path or host.option("mysqld", "wsrep_provider") or ""
    return path if is_clean(path) else ""
