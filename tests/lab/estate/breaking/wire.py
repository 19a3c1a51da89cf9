"""A slow wire: carries a host's Ethernet frames between its veth and a TAP device in the bridge, late, thin or lossy.

Run as a program of its own, not imported: `python3 wire.py --machine=NAME --link=VETH --tap=TAP --delay-ms=.. ...`.
The kernel's netem is a module many kernels are built without; this needs AF_PACKET and /dev/net/tun only. Frames keep
their virtio-net header (PACKET_VNET_HDR, man packet(7); IFF_VNET_HDR, Linux Documentation/networking/tuntap.rst), so
that segmentation and checksum offload survive: one "frame" may be a bundle of TCP segments of up to 64 KiB.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import random
import selectors
import signal
import socket
import struct
import time
from collections import deque
from dataclasses import dataclass, field

_TUNSETIFF = 0x400454CA
_TUNSETOFFLOAD = 0x400454D0
_IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
_OFFLOADS = 0x01 | 0x02 | 0x04  # TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6
_SOL_PACKET, _PACKET_VNET_HDR, _PACKET_IGNORE_OUTGOING = 263, 15, 23
_ETH_P_ALL = 0x0003
_LARGEST = 10 + 14 + 65535
_QUEUE_BYTES = 512 * 1024


@dataclass(slots=True)
class Direction:
    """One way of the wire: frames wait in order for their time; what would overfill the queue is dropped."""

    target: int
    delay_s: float
    bytes_per_s: float
    loss: float
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)
    queued: int = 0
    free_at: float = 0.0

    def take(self, frame: bytes, now: float) -> None:
        if self.loss and random.random() < self.loss:
            return
        if self.bytes_per_s and self.queued + len(frame) > _QUEUE_BYTES:
            return
        self.free_at = max(now, self.free_at) + (len(frame) / self.bytes_per_s if self.bytes_per_s else 0.0)
        self.waiting.append((self.free_at + self.delay_s, frame))
        self.queued += len(frame)

    def release(self, now: float) -> float | None:
        """Send what is due; seconds until the next frame is, None when nothing waits."""
        while self.waiting and self.waiting[0][0] <= now:
            frame = self.waiting.popleft()[1]
            self.queued -= len(frame)
            try:
                os.write(self.target, frame)
            except OSError:
                continue  # the other end is down or full: a frame lost on the wire
        return self.waiting[0][0] - now if self.waiting else None


def open_tap(name: str) -> int:
    """File descriptor of a TAP device that exists as long as this process."""
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR))
    fcntl.ioctl(tap, _TUNSETOFFLOAD, _OFFLOADS)
    return tap


def open_link(name: str) -> socket.socket:
    """Raw socket on the host's veth that sees only what arrives there."""
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
    link.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
    link.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024 * 1024)
    link.bind((name, 0x0003))
    link.setblocking(False)
    return link


def carry(link: socket.socket, tap: int, delay_s: float, bytes_per_s: float, loss: float) -> None:
    """Carry frames both ways until a signal ends the process."""
    out = Direction(tap, delay_s, bytes_per_s, loss)
    back = Direction(link.fileno(), delay_s, bytes_per_s, loss)
    ways = {link.fileno(): out, tap: back}
    ready = selectors.DefaultSelector()
    for number in ways:
        ready.register(number, selectors.EVENT_READ)
    pause: float | None = None
    while True:
        for key, _ in ready.select(pause):
            _drain(key.fd, ways[key.fd])
        now = time.monotonic()
        next_due = [due for due in (out.release(now), back.release(now)) if due is not None]
        pause = max(0.0, min(next_due)) if next_due else None


def _drain(number: int, way: Direction) -> None:
    for _ in range(64):
        try:
            frame = os.read(number, _LARGEST)
        except BlockingIOError:
            return
        except OSError:
            return  # the link is down for a moment (reboot of the host)
        way.take(frame, time.monotonic())


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("--machine", "--link", "--tap"):
        parser.add_argument(name, required=True)
    for name in ("--delay-ms", "--rate-kbit", "--loss-percent"):
        parser.add_argument(name, type=float, default=0.0)
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    rate = options.rate_kbit * 1000 / 8
    link = open_link(options.link)
    carry(link, open_tap(options.tap), options.delay_ms / 1000, rate, options.loss_percent / 100)


if __name__ == "__main__":
    main()
