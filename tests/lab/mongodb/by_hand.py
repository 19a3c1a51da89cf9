"""What a colleague does by hand on a replica set of the lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.lab.estate import mongodb
from tests.lab.estate.estate import Estate

_KEYS = ("_id", "host", "arbiterOnly", "priority", "votes", "hidden", "slaveDelay", "tags")


def reconfigure(estate: Estate, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the set's configuration on its primary, as rs.reconfig does."""
    primary = mongodb.primary(estate.spec)
    config = mongodb.ask(estate.spec, primary, {"replSetGetConfig": 1})["config"]
    config = {key: value for key, value in config.items() if key in {"_id", "members", "protocolVersion"}} | {
        "version": config["version"] + 1
    }
    config["members"] = [{key: one[key] for key in _KEYS if key in one} for one in config["members"]]
    change(config)
    mongodb.ask(estate.spec, primary, {"replSetReconfig": config}, limit_s=60)
