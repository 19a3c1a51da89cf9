"""What the run sets on every node: which files, by which options, from where. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from services.facts.transfer.certificates import DAY_S, PairSeen, faults_of
from services.procedures.conditions.galera.config.sst_section import Settings
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import flag_of, number_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.galera.transfer_pairs import FOLDER, TransferPairs
from services.procedures.plan.parts.server.options import Options

MAKE, SERVERS, FILES = "make", "servers", "files"
MODE = "4"
SET = ("encrypt", "tca", "tcapath", "tcert", "tkey")
"""The options that the run sets or removes: tca, tcert and tkey win over ssl_ca and the like, wherever those stand."""
DEFAULT_DAYS, DEFAULT_RENEW = 3650, 30


@dataclass(frozen=True, slots=True)
class Goal:
    """What transfers are to use.

    Attributes:
        source: 'make', 'servers' (each its own server's pair) or 'files' (of the workstation).
        ca, cert, key: the files on every node; '' where each uses its own server's.
        settings: what [sst] says on every node afterwards.
    """

    source: str
    ca: str = ""
    cert: str = ""
    key: str = ""
    settings: Settings = ()

    def pair_of(self, host: HostFacts) -> tuple[str, str, str]:
        """Return CA, certificate and key that this host's transfers will use."""
        own = host[TransferPairs].own
        if self.source == SERVERS:
            return own.paths if own is not None else ("", "", "")
        return self.ca, self.cert, self.key


def goal_of(facts: Facts, values: Inputs) -> Goal:
    """Return what the inputs ask for. The names of new files have the time of the facts: none is ever replaced."""
    source = values["source"]
    if source == SERVERS:
        return Goal(source, settings=(("encrypt", MODE), *((name, None) for name in SET[1:])))
    stamp = datetime.fromtimestamp(facts.at, UTC).strftime("%Y%m%dT%H%M%S")
    ca, cert, key = (f"{FOLDER}/sst-{stamp}-{what}.pem" for what in ("ca", "cert", "key"))
    settings = (("encrypt", MODE), ("tca", ca), ("tcapath", None), ("tcert", cert), ("tkey", key))
    return Goal(source, ca, cert, key, settings)


def server_user(host: HostFacts) -> str:
    """Return the account that a host's server, and with it an SST's script, runs as."""
    pairs = host[TransferPairs]
    for pair in (pairs.used, pairs.own):
        if pair is not None and pair.user:
            return pair.user
    return host[Options].option("mysqld", "user") or "mysql"


def server_group(host: HostFacts) -> str:
    """Return that account's group."""
    pairs = host[TransferPairs]
    return next((p.group for p in (pairs.used, pairs.own) if p is not None and p.group), server_user(host))


def host_time(facts: Facts, host: HostFacts) -> float:
    """Return the host's own time when the facts were gathered: by it its scripts judge a certificate."""
    machine = host.node.machine if host.node is not None else None
    return facts.at + ((machine.clock_offset_s or 0.0) if machine is not None else 0.0)


def good_already(facts: Facts, members: tuple[str, ...], values: Inputs) -> bool:
    """Return whether all transfers are encrypted with encrypt=4 by one CA already, for long enough."""
    if flag_of(values["again"]) is True or not members:
        return False
    renew_s = (number_of(values["renew"]) or 0) * DAY_S
    roots: set[tuple[str, ...]] = set()
    for name in members:
        host = facts.host(name)
        pair = host[TransferPairs].used
        if host[SstOptions].value("encrypt") != MODE or pair is None or not _as_asked(host, pair, values["source"]):
            return False
        if faults_of(pair, host_time(facts, host), renew_s):
            return False
        roots.add(pair.roots)
    return len(roots) == 1


def _as_asked(host: HostFacts, pair: PairSeen, source: str) -> bool:
    """Return whether the pair in use is of the kind that is asked for; of the workstation's files that is not known."""
    own = host[TransferPairs].own
    if source == SERVERS:
        return own is not None and own.paths == pair.paths
    return source == MAKE
