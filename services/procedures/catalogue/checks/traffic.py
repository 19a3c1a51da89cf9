"""Does the joiner bring what the members' traffic needs: their provider, their certificates? (add-node P2, P6)

Sources: Galera documentation "SSL Settings" (all nodes or none), Percona XtraDB Cluster manual "Encrypt PXC traffic"
(pxc_encrypt_cluster_traffic: every node needs the same certificate authority).
"""

from __future__ import annotations

from services.facts.server.option_files import provider_options_of
from services.procedures.catalogue.checks.parts import server_of, unread, unread_options, verdict
from services.procedures.catalogue.steps.pair_copied import lacking_pair
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.traffic_files import PROVIDER_FILES, TrafficFiles, library_of, tls_files
from services.procedures.plan.parts.server.options import Options
from services.types import Flavour


def provider_library(facts: Facts, joiner: str, donor: str) -> Check:
    """The provider that the joiner will load is there, and is of the size of the donor's.

    What a provider is shows only when it is loaded; until then two libraries of one size are taken for the same.
    """
    host, source = facts.host(joiner), facts.host(donor)
    path, theirs = library_of(host) or library_of(source), dict(source[TrafficFiles].sizes).get(library_of(source))
    mine = dict(host[TrafficFiles].sizes).get(path)
    missing, blind, differs = "", "", ""
    if not path:
        blind = f"the provider of {donor} could not be read"
    elif path not in dict(host[TrafficFiles].sizes):
        blind = unread(host, path, "files", "root", "ssh")
    elif mine is None:
        missing = f"{path} does not exist on {joiner}"
    elif theirs is None:
        blind = unread(source, library_of(source) or "the provider", "files", "root", "ssh")
    elif mine != theirs:
        differs = f"{path} has {mine} bytes on {joiner}, {library_of(source)} {theirs} on {donor}"
    return Check(
        code="PROVIDER-FILE",
        title=f"{joiner} has the members' Galera provider",
        not_known=bool(blind),
        verdict=verdict(missing, [blind or differs] if blind or differs else ()),
        evidence=missing or blind or differs or f"{path} has {mine} bytes on {joiner}, as on {donor}",
        why="Without it the server does not start; a provider with an older protocol aborts at every IST.",
        try_=(f"Install the Galera package of {donor} on {joiner}.",) if missing or differs else (),
        host=joiner,
    )


def traffic_files(facts: Facts, joiner: str, donor: str, *, fresh: bool) -> Check:
    """Certificates and keys that the joiner's configuration will name are on it.

    Args:
        fresh: it gets the donor's configuration; else it has its own.
    """
    host, source = facts.host(joiner), facts.host(donor)
    named = tls_files(source if fresh else host)
    there = dict(host[TrafficFiles].sizes)
    brought = lacking_pair(facts, joiner, donor, fresh=fresh) or ()
    missing = [
        f"{path} ({option})" for option, path in named if path in there and there[path] is None and path not in brought
    ]
    copied = [f"{', '.join(brought)} are copied from {donor}"] if brought else []
    blind = unread_options(host, *((source,) if fresh else ()))  # unread, its own files look like none
    blind += [unread(host, path, "files", "root", "ssh") for _, path in named if path not in there]
    server = server_of(source)
    flag = next((v for n, v in (server.variables if server is not None else ()) if n == "pxc_encrypt_cluster_traffic"),
                source[Options].option("mysqld", "pxc_encrypt_cluster_traffic") or "ON")  # fmt: skip
    own = server is not None and server.flavour is Flavour.PXC and flag.upper() not in {"OFF", "0"} and not named
    warns = [*blind, *([f"{donor} encrypts its traffic with certificates in its data folder"] if own else ())]
    lacks = [f"{joiner} does not have {text}" for text in missing]
    return Check(
        code="TRAFFIC-FILES",
        title=f"{joiner} has the certificates for the cluster's traffic",
        not_known=bool(blind) and not lacks,
        verdict=verdict(lacks, warns),
        evidence="; ".join([*lacks, *warns, *copied])
        or ", ".join(path for _, path in named)
        or "no certificates are named",
        why="A node whose certificates are missing, or signed by another CA, cannot join the group.",
        try_=(f"Copy the files from {donor} to {joiner}, and make them readable for the server's account.",)
        if lacks or own
        else (),
        host=joiner,
    )


def traffic_alike(facts: Facts, joiner: str, donor: str, *, fresh: bool) -> Check:
    """The group's traffic and the IST are encrypted on both sides, or on none.

    Args:
        fresh: it gets the donor's provider options, where the donor's files have any; else it has its own.
    """
    host, source = facts.host(joiner), facts.host(donor)
    copied = source[Options].option("mysqld", "wsrep_provider_options") if fresh else None
    given = copied if copied is not None else host[Options].option("mysqld", "wsrep_provider_options") or ""
    theirs = _encrypted(dict(source[Provider].options)) if source[Provider].options else None
    mine = _encrypted(dict(provider_options_of(given))) if host[Options].known or copied is not None else None
    blind = [unread(source, "whether the traffic is encrypted", "variables", "sql")] if theirs is None else []
    blind += [unread(host, "the option files", "options", "ssh")] if mine is None else []
    differ = not blind and mine is not theirs
    shown = f"{donor}: {_word(theirs)}; {joiner}'s files: {_word(mine)}"
    return Check(
        code="TRAFFIC-TLS",
        title="Both nodes encrypt the group's traffic, or neither does",
        not_known=bool(blind),
        verdict=verdict(differ and not _pxc(source), [*blind, *([shown] if differ else ())]),
        evidence="; ".join([*blind, shown]),
        why="An unencrypted node cannot join nodes that encrypt their traffic, and an IST between them hangs.",
        try_=("Set socket.ssl, socket.ssl_key, socket.ssl_cert and socket.ssl_ca to the same on both nodes.",)
        if differ
        else (),
        host=joiner,
    )


def _pxc(host: HostFacts) -> bool:
    """PXC switches its encryption on by itself (pxc_encrypt_cluster_traffic): its files don't tell it."""
    server = server_of(host)
    return server is not None and server.flavour is Flavour.PXC


def _encrypted(options: dict[str, str]) -> bool:
    """Return whether these provider options encrypt: socket.ssl says so, else a key that is named does."""
    said = options.get("socket.ssl", "").strip().lower()
    return said in {"yes", "true", "1", "on"} if said else any(options.get(name) for name in PROVIDER_FILES)


def _word(encrypted: bool | None) -> str:
    return "not known" if encrypted is None else "encrypted" if encrypted else "unencrypted"
