"""Which names of /proc/net/dev carry a host's own traffic, and which repeat what another one carries. Pure.

A bond, a VLAN, a bridge, a tunnel and a container's pair pass on what a card carries: added up, each byte is counted as
often as there are layers. A card has a driver (`/sys/class/net/NAME/device`); where none is told (a container's own
network) the names must do. Sources: Linux, Documentation/ABI/testing/sysfs-class-net; systemd.net-naming-scheme(7);
iproute2, ip-link(8), the kinds of virtual devices.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_REPEATS = re.compile(
    r"lo|.*[.:@].*|(?:bond|team|nm-bond|nm-team|br|bridge|nm-bridge|virbr|docker|vmbr|lxcbr|lxdbr|cbr|ovs|vlan|macvlan"
    r"|macvtap|ipvlan|veth|vnet|tap|tun|tunl|wg|dummy|ifb|sit|gre|gretap|erspan|ip6tnl|ip6gre|ip6_vti|ip_vti|vti|vxlan"
    r"|geneve|cni|flannel|weave|cilium|cilium_\w*|lxc|kube-ipvs|nodelocaldns|podman|ppp|teql|nlmon|vrf)[0-9_-]*"
    r"|(?:br|docker|bond|team|vlan|veth|vnet|fwbr|fwpr|fwln|tap|lxc|cali|cilium|vxlan|ovs|azv)[-_0-9a-f].*",
    re.ASCII,
)


def carrying(names: Iterable[str], drivers: Collection[str]) -> tuple[str, ...]:
    """Return those of `names` whose sum counts each byte once.

    Args:
        drivers: the cards, as the host tells them; empty where it tells none.
    """
    known = tuple(names)
    cards = tuple(name for name in known if name in drivers)
    return cards or tuple(name for name in known if _REPEATS.fullmatch(name) is None)
