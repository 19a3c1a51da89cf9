"""How journals kept conditions before they had families, and plans before they had several quorums. Frozen.

It is read for ever and never written; a condition that is new needs no line here.
"""

from __future__ import annotations

from collections.abc import Mapping


def upgraded(tag: str, data: Mapping[str, object]) -> Mapping[str, object]:
    """Return the fields of a tagged value as they are called now: a plan's one quorum is one of several."""
    if tag != "Plan" or "quorum" not in data or "quorums" in data:
        return data
    rest = {name: value for name, value in data.items() if name != "quorum"}
    return {**rest, "quorums": [data["quorum"]] if data["quorum"] else []}


OLD_TAGS: Mapping[str, str] = {
    "VariableIs": "server.variable",
    "StatusIs": "server.status",
    "NoClients": "server.no-clients",
    "Stopped": "server.stopped",
    "OptionIs": "server.option",
    "ProviderOption": "galera.provider-option",
    "Joined": "galera.joined",
    "NotApart": "galera.not-apart",
    "NothingWritten": "galera.nothing-written",
    "CleanPosition": "galera.clean-position",
    "ClusterWhole": "galera.whole",
    "StillPrimary": "galera.still-primary",
    "NoPrimary": "galera.no-primary",
    "FormedAgain": "galera.formed-again",
    "FreeDisk": "machine.free-disk",
    "CacheLasts": "galera.cache-lasts",
    "CacheFrozen": "galera.cache-frozen",
    "CacheReaches": "galera.cache-reaches",
    "FlowControlBelow": "galera.flow-control",
    "FileAbsent": "machine.file-absent",
    "FileSays": "machine.file-says",
    "TransferWas": "galera.transfer",
    "Listening": "machine.listening",
    "Position": "galera.position",
    "UnitSetting": "machine.unit-setting",
    "UnitFresh": "machine.unit-fresh",
    "BalancerServer": "haproxy.server",
    "SameHistory": "galera.same-history",
    "FoundsNothing": "galera.founds-nothing",
    "PositionMark": "galera.position-mark",
    "Unmoved": "galera.unmoved",
    "StateNamed": "galera.state-named",
}
