"""A server that its host says is coming up, while SQL is still closed: systemd tells of it."""

from __future__ import annotations

from services.discovery.nodes import Node


def coming_up(node: Node) -> bool:
    """Return whether systemd is starting the server, or says that its state is being received."""
    machine = node.machine
    return (
        node.ssh_fresh
        and machine is not None
        and machine.server_state not in {"", "T", "?"}
        and (machine.unit_state.startswith("activating") or receiving(machine.unit_status_text))
    )


def receiving(status_text: str) -> bool:
    """Return whether StatusText says that a transfer runs to this node (MariaDB keeps a donor's last text)."""
    text = status_text.lower()
    return "state transfer" in text and "completed" not in text and "role donor" not in text
