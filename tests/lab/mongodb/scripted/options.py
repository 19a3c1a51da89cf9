"""The command line of mongod and mongos, and getCmdLineOpts of it."""

from __future__ import annotations

from typing import Any

_SWITCHES = {"--configsvr", "--shardsvr", "--smallfiles", "--nojournal", "--logappend"}
_PLACES = {
    "--port": ("net", "port"),
    "--bind_ip": ("net", "bindIp"),
    "--unixSocketPrefix": ("net.unixDomainSocket", "pathPrefix"),
    "--replSet": ("replication", "replSet"),
    "--oplogSize": ("replication", "oplogSizeMB"),
    "--configsvrMode": ("sharding", "configsvrMode"),
    "--configdb": ("sharding", "configDB"),
    "--storageEngine": ("storage", "engine"),
    "--dbpath": ("storage", "dbPath"),
    "--logpath": ("systemLog", "path"),
}
_NUMBERS = {"--port", "--oplogSize"}


class Options:
    """One command line. An option that the real one has not is refused, as it would refuse to start."""

    def __init__(self, program: str, words: list[str]) -> None:
        self.argv = [program, *words]
        self._given: dict[str, str] = {}
        left = list(words)
        while left:
            word = left.pop(0)
            name, equals, value = word.partition("=")
            if name in _SWITCHES:
                self._given[name] = "true"
            elif name in _PLACES:
                self._given[name] = value if equals else left.pop(0)
            else:
                raise ValueError(f"Error parsing command line: unrecognised option '{word}'")

    def __getitem__(self, name: str) -> str:
        """What was given, '' where nothing was."""
        return self._given.get(name, "")

    def __contains__(self, name: str) -> bool:
        return name in self._given

    @property
    def mirrored(self) -> bool:
        """A config server that acts as one of three mirrors."""
        return "--configsvr" in self and ("--replSet" not in self or self["--configsvrMode"] == "sccc")

    @property
    def engine(self) -> str:
        """The storage engine."""
        return self["--storageEngine"] or "wiredTiger"

    def parsed(self) -> dict[str, Any]:
        """As getCmdLineOpts shows them: by the places of the configuration file, in the order of the alphabet."""
        found: dict[str, Any] = {}
        for name, value in self._given.items():
            if name in _PLACES:
                path, key = _PLACES[name]
                _inside(found, path)[key] = int(value) if name in _NUMBERS else value
        role = "configsvr" if "--configsvr" in self else "shardsvr" if "--shardsvr" in self else ""
        if role:
            _inside(found, "sharding")["clusterRole"] = role
        if "--logpath" in self:
            _inside(found, "systemLog").update(destination="file", logAppend="--logappend" in self)
        if "--nojournal" in self:
            _inside(found, "storage.journal")["enabled"] = False
        if "--smallfiles" in self:
            _inside(found, "storage.mmapv1")["smallFiles"] = True
        return _sorted(found)


def _inside(found: dict[str, Any], path: str) -> dict[str, Any]:
    for name in path.split("."):
        found = found.setdefault(name, {})
    return found


def _sorted(found: dict[str, Any]) -> dict[str, Any]:
    return {key: _sorted(value) if isinstance(value, dict) else value for key, value in sorted(found.items())}
