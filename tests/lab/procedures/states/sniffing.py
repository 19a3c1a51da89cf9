"""What goes over a host's wire to a port, seen from outside: the first bytes of each direction of each connection.

A raw socket (packet(7)) on the host's end of its veth, so that nothing on the host itself has to be believed.
"""

from __future__ import annotations

import socket
import struct
import threading
from types import TracebackType
from typing import Self

from tests.lab.estate.estate import Estate

_ETH_P_ALL, _IPV4, _TCP = 0x0003, 0x0800, 6
_FIRST = 3
Way = tuple[str, int, str, int]
"""From address and port, to address and port."""


class Sniffed:
    """While it is entered it keeps the first bytes, and the number of bytes, of every TCP way with the port."""

    def __init__(self, estate: Estate, host: str, port: int) -> None:
        self._link, self._port = estate.spec.link(host), port
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sniffer", daemon=True)
        self.first: dict[Way, bytes] = {}
        self.bytes: dict[Way, int] = {}

    def __enter__(self) -> Self:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(_ETH_P_ALL))
        self._socket.bind((self._link, _ETH_P_ALL))
        self._socket.settimeout(0.2)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=10)
        self._socket.close()

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                frame = self._socket.recv(65_600)
            except TimeoutError:
                continue
            self._seen(frame)

    def _seen(self, frame: bytes) -> None:
        if len(frame) < 54 or struct.unpack("!H", frame[12:14])[0] != _IPV4 or frame[23] != _TCP:
            return
        head = (frame[14] & 15) * 4
        length = struct.unpack("!H", frame[16:18])[0]
        tcp = frame[14 + head : 14 + (length or len(frame) - 14)]
        source, target = struct.unpack("!HH", tcp[:4])
        if self._port not in {source, target}:
            return
        data = tcp[(tcp[12] >> 4) * 4 :]
        way = (socket.inet_ntoa(frame[26:30]), source, socket.inet_ntoa(frame[30:34]), target)
        self.bytes[way] = self.bytes.get(way, 0) + len(data)
        if data and way not in self.first:
            self.first[way] = data[:_FIRST]
