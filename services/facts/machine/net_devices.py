"""Which names of /proc/net/dev carry a host's own traffic, and which repeat what another one carries. Pure.

A bond, a VLAN, a bridge, a tunnel and a container's pair pass on what a card carries: added up, each byte is counted as
often as there are layers. What has a driver (`/sys/class/net/NAME/device`) is a card, whatever it is called; where
nothing has one (a container's own network) a device is what its kind does not rule out, and where /sys tells nothing
the names alone must do. Sources: Linux, Documentation/ABI/testing/sysfs-class-net; systemd.net-naming-scheme(7);
iproute2, ip-link(8), the kinds of virtual devices; the documentation of the programs that name their own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_LAYERS = (
    r"lo|.*[.:@].*|(?:bond|team|nm-bond|nm-team|br|bridge|nm-bridge|virbr|docker|vmbr|lxcbr|lxdbr|incusbr|cbr|ovs|vlan"
    r"|macvlan|macvtap|macsec|ipvlan|veth|vnet|vif|tap|tun|tunl|wg|dummy|ifb|sit|gre|gretap|erspan|ip6tnl|ip6gre"
    r"|ip6_vti|ip_vti|vti|ipsec|xfrm|vxlan|geneve|bareudp|cni|flannel|weave|lxc|podman|nerdctl|mpqemubr|ppp|teql"
    r"|nlmon|vrf|bat|hsr)[0-9_-]*"
)
"""The kinds of the kernel, and bridges of machines and containers, as their programs number them."""
_PAIRS = (
    r"(?:br|docker|bond|team|vlan|veth|vnet|fwbr|fwpr|fwln|tap|lxc|cali|cilium|vxlan|ovs|azv|vrf|cni)[-_0-9a-f].*"
    r"|(?:qbr|qvb|qvo|qr-|qg-|sg-|ha-|vethwe).*|(?:eni|gke)[0-9a-f]{11}|lxdfan.*|[a-z]+_gwbridge"
)
"""A network's own bridges and the host's ends of pairs: Docker, Proxmox, libvirt, Calico, Cilium, OpenStack, Amazon's
and Google's Kubernetes, LXD's fan."""
_OVERLAYS = (
    r"(?:genev|vxlan|gre|geneve)_sys(?:_[0-9]+)?|antrea-.+|ovn-k8s-mp.*|kube-(?:ipvs0|bridge|dummy-if)|nodelocaldns"
    r"|flannel-.+|cilium_\w+|datapath|kilo[0-9]+|weave"
)
_TUNNELS = (
    r"tailscale[0-9]+|zt[a-z2-7]{8}|zt[0-9]+|nordlynx|nordtun|wg-.+|wt[0-9]+|proton[0-9]+|CloudflareWARP|as0t[0-9]+"
    r"|outline-tun[0-9]+|nebula[0-9]*|ham[0-9]+|gpd[0-9]+|cscotun[0-9]+|zcctun[0-9]+|edge[0-9]+|utun[0-9]+"
    r"|(?:vmnet|vboxnet)[0-9]+"
)
"""Tailscale, ZeroTier ('zt' and eight signs of base 32), NordVPN, WireGuard, NetBird, Proton, Cloudflare, OpenVPN's
Access Server, Nebula, Hamachi, GlobalProtect, AnyConnect, Zscaler, n2n; the networks of VMware's and VirtualBox's
hosts."""
_REPEATS = re.compile(f"{_LAYERS}|{_PAIRS}|{_OVERLAYS}|{_TUNNELS}", re.ASCII)


def carrying(names: Iterable[str], drivers: Collection[str]) -> tuple[str, ...]:
    """Return those of `names` whose sum counts each byte once.

    Args:
        drivers: the cards, as the host tells them; what may be one, behind a '?'; empty where it tells none.
    """
    known = tuple(names)
    if cards := tuple(name for name in known if name in drivers):
        return cards
    plain = tuple(name for name in known if _REPEATS.fullmatch(name) is None)
    if any(name.startswith("?") for name in drivers):
        return tuple(name for name in plain if f"?{name}" in drivers)
    return plain
