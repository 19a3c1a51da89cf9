"""Do server and provider belong together, and does the joiner fit its cluster? (pages "Conventions", add-node P2)"""

from __future__ import annotations

from services.facts.model import ServerFacts
from services.procedures.catalogue.checks.parts import (
    READ_IT,
    checked,
    galera_of,
    known,
    problem_of,
    server_of,
    unread,
    verdict,
)
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.program import Program
from services.types import Flavour

_CODERSHIP, _PERCONA = "codership", "percona"
_OWN_SINCE = (8, 0)
"""Since when Percona's own provider names Percona beside Codership: 'Codership Oy ... (modified by Percona ...)'."""


def foreign_provider(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """The provider is the one that the server was built for. Absolute: calls go one slot off in a foreign one."""
    return tuple(_provider(host) for host in known(facts, hosts))


def _is_foreign_to_mariadb(server: ServerFacts | None, vendor: str) -> bool:
    """Whether MariaDB runs a provider that is not Codership's, as it was."""
    name = vendor.lower()
    odd = bool(name) and (_CODERSHIP not in name or _PERCONA in name)
    return odd and server is not None and server.flavour is Flavour.MARIADB


def _is_foreign_to_percona(server: ServerFacts | None, vendor: str) -> bool:
    """Whether a cluster of Percona runs a provider that does not name Percona, as its own does since 8.0."""
    if server is None or server.flavour is not Flavour.PXC or () < server.version_key < _OWN_SINCE:
        return False
    return _CODERSHIP in vendor.lower() and _PERCONA not in vendor.lower()


def _provider(host: HostFacts) -> Check:
    galera, server = galera_of(host), server_of(host)
    odd, blind = "", False
    if galera is not None:
        vendor = galera.provider_vendor
        if galera.provider_suspect:
            odd = problem_of(host, "galera") or "the provider's name, vendor or version does not match this server"
        elif _is_foreign_to_mariadb(server, vendor):
            odd = f"a MariaDB server runs the provider of {vendor}"
        elif _is_foreign_to_percona(server, vendor):
            odd = f"a Percona XtraDB Cluster server runs the provider of {vendor}"
        seen = f"{vendor or 'vendor not given'} {galera.provider_version}".strip()
        blind = not odd and not vendor
    else:
        seen = "the server is not running, so no provider is loaded"
        blind = host.server_up is not False
    return checked(
        "FOREIGN-PROVIDER",
        f"{host.host} runs its own product's Galera provider",
        each="Each node runs its own product's Galera provider",
        block=bool(odd),
        unread=blind,
        evidence=unread(host, "the provider", "sql", "galera") if blind else f"{host.host}: {odd or seen}",
        why="The providers of Percona and Codership have different function tables: a desync may do nothing or never "
        "end.",
        try_=("Install the provider of the server's vendor on all nodes.",),
        host=host.host,
        absolute=True,
    )


def known_product(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """The members are MariaDB or Percona XtraDB Cluster: of any other server with Galera the console only reads."""
    servers = {h.host: s for h in known(facts, hosts) if (s := server_of(h)) is not None}
    strange = [f"{name}: {s.flavour.value} {s.version_text or s.version}" for name, s in servers.items()
               if s.flavour not in {Flavour.MARIADB, Flavour.PXC, Flavour.UNKNOWN}]  # fmt: skip
    blind = [f"{name}: the server product is not known" for name, s in servers.items()
             if s.flavour is Flavour.UNKNOWN]  # fmt: skip
    products = [f"{name}: {s.flavour.value} {s.version_text or s.version}".rstrip() for name, s in servers.items()]
    return checked(
        "PRODUCT",
        "The servers are a supported product",
        block=strange,
        unread=blind,
        evidence="; ".join([*strange, *blind] or products)
        or "no server answers: its version is read when it is started",
        why="Units, tools and SST options differ between products; this procedure was not tested on other products.",
        try_=("Follow that product's manual instead; topology and charts remain available.",),
    )


def versions(facts: Facts, joiner: str, members: tuple[str, ...]) -> Check:
    """The joiner's program is of the members' major version or a newer one, and of the same product."""
    host = facts.host(joiner)
    theirs = {
        h.host: key
        for h in known(facts, tuple(m for m in members if m != joiner))
        if (key := (s.version_key if (s := server_of(h)) is not None and s.version_key else h[Program].version))
    }
    own = host[Program].version
    if not own or not theirs:
        state, evidence = Verdict.BLOCK, f"the version of {joiner if not own else 'the members'} could not be read"
    else:
        newest = max(theirs.values())
        products = {h.host: _product(h) for h in known(facts, (joiner, *theirs)) if _product(h)}
        mixed = len(set(products.values())) > 1
        older = own[:2] < newest[:2]
        differs = own[:2] != newest[:2] or own < newest
        state = verdict(older or mixed, differs)
        evidence = f"{joiner}: {_shown(own)}; " + ", ".join(f"{name}: {_shown(v)}" for name, v in theirs.items())
        if mixed:
            evidence += "; products: " + ", ".join(f"{name} {product}" for name, product in products.items())
    return Check(
        code="VERSIONS",
        title=f"The server version of {joiner} fits the cluster",
        verdict=state,
        evidence=evidence,
        why="An older server cannot read the data files or write sets of a newer one.",
        try_=()
        if state is Verdict.PASS
        else (f"Install the members' version on {joiner}." if own and theirs else READ_IT,),
        host=joiner,
    )


def _product(host: HostFacts) -> str:
    server = server_of(host)
    text = f"{server.version_text} {server.comment}" if server is not None else host[Program].text
    return "" if not text.strip() else "MariaDB" if "mariadb" in text.lower() else "MySQL"


def _shown(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)


def provider_protocol(facts: Facts, joiner: str, members: tuple[str, ...]) -> Check:
    """repl.proto_max of all members is the same, and the joiner's (where it runs) is not lower."""
    theirs = {
        h.host: g.proto_max
        for h in known(facts, members)
        if h.host != joiner and (g := galera_of(h)) is not None and g.proto_max is not None
    }
    mine = galera_of(facts.host(joiner))
    own = mine.proto_max if mine is not None else None
    lower = own is not None and theirs != {} and own < max(theirs.values())
    differ = len(set(theirs.values())) > 1
    evidence = ", ".join(f"{name}: {value}" for name, value in theirs.items()) or "no member's repl.proto_max is known"
    evidence += f"; {joiner}: {'known once it runs' if own is None else own}"
    return Check(
        code="PROVIDER-PROTOCOL",
        title="The providers use one protocol version",
        verdict=verdict(lower, differ or not theirs),
        evidence=evidence,
        why="A provider with an older protocol aborts at a newer view change during IST, and again at every start.",
        try_=("Install the same provider on all nodes.",) if lower or differ else (),
        host=joiner,
    )
