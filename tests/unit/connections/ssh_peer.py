"""A peer that speaks real SSH on loopback, shows the host key it is given and keeps the passwords it gets."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

import paramiko


class SshPeer:
    """Takes connections one after the other; every password is right.

    Args:
        key: the host key that it shows. leads_to: the port of this machine that every tunnel ends at.
        door: who lets in, instead of whoever takes every password. more_keys: of other kinds, shown when asked for.
    """

    def __init__(
        self,
        key: paramiko.PKey,
        leads_to: int = 0,
        door: Callable[[paramiko.Transport], paramiko.ServerInterface] | None = None,
        more_keys: tuple[paramiko.PKey, ...] = (),
    ) -> None:
        self.passwords: list[str] = []
        self._keys = (key, *more_keys)
        self._door = door or (lambda _: _Door(self))
        self._leads_to = leads_to
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self.port: int = self._listener.getsockname()[1]
        self.over = threading.Event()
        self._threads = [threading.Thread(target=self._work)]
        self._threads[0].start()

    def close(self) -> None:
        """End the threads."""
        self.over.set()
        for thread in self._threads:
            thread.join(10)
        self._listener.close()

    def known_as(self, key: paramiko.PKey, name: str = "") -> str:
        """Return the line of known_hosts that gives this peer (or another name) the key."""
        return f"{name or f'[127.0.0.1]:{self.port}'} {key.get_name()} {key.get_base64()}\n"

    def _work(self) -> None:
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                self._speak(self._listener.accept()[0])

    def _speak(self, sock: socket.socket) -> None:
        transport = paramiko.Transport(sock)
        for key in self._keys:
            transport.add_server_key(key)
        try:
            transport.start_server(server=self._door(transport))
            while transport.is_active() and not self.over.is_set():
                channel = transport.accept(0.1)
                if channel is not None:
                    self._carry(channel)
        except (paramiko.SSHException, EOFError, OSError):
            return
        finally:
            transport.close()
            transport.packetizer.complete_handshake()  # its clock runs on where the client went away within it
            transport.join(5)

    def _carry(self, channel: paramiko.Channel) -> None:
        end = socket.create_connection(("127.0.0.1", self._leads_to))
        for take, give in ((channel, end), (end, channel)):
            self._threads.append(threading.Thread(target=_copy, args=(take, give, self.over)))
            self._threads[-1].start()


def carry(end: socket.socket, port: int) -> None:
    """Connect one end to a port of this machine until one of both is closed."""
    over = threading.Event()
    other = socket.create_connection(("127.0.0.1", port))
    back = threading.Thread(target=_copy, args=(other, end, over))
    back.start()
    _copy(end, other, over)
    over.set()
    back.join(10)


def _copy(
    take: paramiko.Channel | socket.socket, give: paramiko.Channel | socket.socket, over: threading.Event
) -> None:
    take.settimeout(0.1)
    with contextlib.suppress(OSError, EOFError):
        while not over.is_set():
            try:
                data = take.recv(65_536)
            except TimeoutError:
                continue
            if not data:
                break
            give.sendall(data)
    for end in (take, give):
        with contextlib.suppress(OSError, EOFError):
            end.close()


class _Door(paramiko.ServerInterface):
    def __init__(self, peer: SshPeer) -> None:
        self._peer = peer

    def check_auth_password(self, username: str, password: str) -> int:
        """Keep it and let in."""
        self._peer.passwords.append(password)
        return paramiko.AUTH_SUCCESSFUL

    def get_allowed_auths(self, username: str) -> str:
        """Offer passwords only."""
        return "password"

    def check_channel_request(self, kind: str, chanid: int) -> int:
        """Open every session."""
        return paramiko.OPEN_SUCCEEDED

    def check_channel_direct_tcpip_request(
        self, chanid: int, origin: tuple[str, int], destination: tuple[str, int]
    ) -> int:
        """Open every tunnel."""
        return paramiko.OPEN_SUCCEEDED
