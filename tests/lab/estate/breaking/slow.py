"""Put a host behind a slow wire, and back on the bridge."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.lab.estate.errors import LabError
from tests.lab.estate.host import network, proc
from tests.lab.estate.paths import state_root
from tests.lab.estate.shell import run, spawn
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until

_WIRE = Path(__file__).with_name("wire.py")


@dataclass(frozen=True, slots=True)
class Wire:
    """What a wire does: added round-trip time in ms (half on each way), kbit/s and loss in percent on each way."""

    delay_ms: float = 0.0
    rate_kbit: float = 0.0
    loss_percent: float = 0.0

    def __str__(self) -> str:
        said = []
        if self.delay_ms:
            said.append(f"+{self.delay_ms:g} ms round trip")
        if self.rate_kbit:
            said.append(f"{self.rate_kbit:g} kbit/s")
        if self.loss_percent:
            said.append(f"{self.loss_percent:g} % loss")
        return ", ".join(said)


def parse_ms(text: str) -> float:
    """Milliseconds of "200ms", "0.2s" or "200"."""
    found = re.fullmatch(r"([0-9.]+)(ms|s)?", text)
    if not found:
        raise LabError(f"not a delay: {text!r} (write 200ms or 0.2s)")
    return float(found.group(1)) * (1000 if found.group(2) == "s" else 1)


def parse_kbit(text: str) -> float:
    """kbit/s of "10mbit", "500kbit" or "1gbit" (the units of tc(8))."""
    found = re.fullmatch(r"([0-9.]+)(kbit|mbit|gbit)", text)
    if not found:
        raise LabError(f"not a rate: {text!r} (write 500kbit or 10mbit)")
    return float(found.group(1)) * {"kbit": 1, "mbit": 1000, "gbit": 1_000_000}[found.group(2)]


def slow(spec: EstateSpec, name: str, wire: Wire) -> None:
    """Carry the host's traffic over `wire`, to its peers and to the console alike; replaces an earlier one."""
    if not Path("/dev/net/tun").exists():
        raise LabError("a slow wire needs /dev/net/tun (kernel option TUN)")
    heal(spec, name)
    link, tap = spec.link(name), network.tap(spec, name)
    # Without ARP of its own the machine cannot answer for the console on the parted link, past the wire.
    run(["ip", "link", "set", link, "nomaster", "arp", "off", "promisc", "on"])
    argv = [sys.executable, str(_WIRE), f"--machine={spec.machine(name)}", f"--link={link}", f"--tap={tap}"]
    argv += [f"--delay-ms={wire.delay_ms / 2}", f"--rate-kbit={wire.rate_kbit}", f"--loss-percent={wire.loss_percent}"]
    log = state_root() / spec.name / "log" / f"{name}.wire"
    spawn(argv, log)

    def reason() -> str | None:
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return None if network.link_exists(tap) else f"no TAP device; the wire said {said[-1:]}"

    try:
        wait_until(f"the wire of {name}", reason, limit_s=10, every_s=0.02)
        Path(f"/proc/sys/net/ipv6/conf/{tap}/disable_ipv6").write_text("1", encoding="ascii")
        run(["ip", "link", "set", tap, "master", spec.bridge, "up"])
    except LabError:
        heal(spec, name)
        raise


def heal(spec: EstateSpec, name: str) -> None:
    """Put the host straight onto the bridge again; nothing to do when it is there."""
    carrier = _process(spec, name)
    if carrier is not None:
        proc.end(carrier[0], limit_s=3)
    link = spec.link(name)
    if network.link_exists(link):
        run(["ip", "link", "set", link, "promisc", "off", "arp", "on", "master", spec.bridge])


def wire_of(spec: EstateSpec, name: str) -> Wire | None:
    """The wire the host is behind now, read from the running carrier's arguments."""
    carrier = _process(spec, name)
    if carrier is None:
        return None
    given = dict(a[2:].split("=", 1) for a in carrier[1] if a.startswith("--") and "=" in a)
    return Wire(float(given["delay-ms"]) * 2, float(given["rate-kbit"]), float(given["loss-percent"]))


def _process(spec: EstateSpec, name: str) -> tuple[int, tuple[str, ...]] | None:
    for pid, argv in proc.processes():
        if str(_WIRE) in argv and f"--link={spec.link(name)}" in argv and proc.alive(pid):
            return pid, argv
    return None
