"""What a colleague does by hand on a replica set of the lab."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from services.connections.budget import Metered
from services.connections.mongo.login import Credentials, greet, log_in
from services.connections.mongo.wire import MongoWire
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import mongodb

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


_WATCHES = 'password = "env:PILOTHOUSE_LAB_OBSERVER_PASSWORD"\n'
_CHANGES = 'operator_user = "pilot"\noperator_password = "env:PILOTHOUSE_LAB_PILOT_PASSWORD"\n'


def inventory_of(estate: Estate, folder: Path, *, may_change: bool = True) -> Path:
    """A copy of the estate's whole inventory, with an account for changes."""
    text = (estate.client_dir / "inventory-all.toml").read_text(encoding="utf-8")
    assert _WATCHES in text
    file = folder / "inventory.toml"
    file.write_text(text.replace(_WATCHES, _WATCHES + _CHANGES) if may_change else text, encoding="utf-8")
    return file


def knowing(text: str, *names: str) -> str:
    """An inventory with these hosts alone, which finds no other."""
    text = re.sub(r"(?m)^networks = .*$", "networks = []", text)
    text = re.sub(r"(?m)^seeds = .*$", f'seeds = ["{names[0]}"]', text)
    parts = re.split(r"(?m)^(?=\[\[)", text)
    kept = [one for one in parts if "[[host]]" not in one or any(f'name = "{name}"' in one for name in names)]
    assert sum("[[host]]" in one for one in kept) == len(names)
    return "".join(kept)


def as_pilot(estate: Estate, name: str, database: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Send a command with the estate's account that may everything, every value of the answer in its own type."""
    who = Credentials("pilot", estate.environment()["PILOTHOUSE_LAB_PILOT_PASSWORD"])
    address = (estate.spec.address(name), mongodb.PORTS[estate.spec.host(name).role])
    with socket.create_connection(address, 30) as sock:
        meter = Metered(sock)
        meter.begin(60, 1 << 24)
        wire = MongoWire(meter, meter)
        _, named = greet(wire, who)
        log_in(wire, who, named)
        return wire.exact(database, asked)


def wait_led_by(estate: Estate, name: str, *, limit_s: float = 90.0) -> None:
    """Wait until this member leads an estate with accounts and the others serve: a first election takes a while."""
    until = time.monotonic() + limit_s
    while True:
        told = as_pilot(estate, name, "admin", {"replSetGetStatus": 1})
        if told["myState"] == 1 and all(one["state"] in {1, 2, 7} for one in told["members"]):
            return
        assert time.monotonic() < until, told
        time.sleep(1.0)
