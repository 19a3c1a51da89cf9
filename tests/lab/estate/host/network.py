"""The estate's network: one bridge, one veth and one network namespace per host, one nftables table for the faults.

The namespace belongs to the lab and not to the container, so addresses and faults outlive a reboot of the host.
Partitions live on the bridge (family `bridge`, hook `forward`): frames between two hosts vanish silently in both
directions, while the console, which sits on the bridge itself, is not forwarded and so not concerned.
A cut also drops what passes between the host and the console.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.lab.estate.shell import run
from tests.lab.estate.spec import EstateSpec

INSIDE = "eth0"


def tap(spec: EstateSpec, name: str) -> str:
    """Bridge port of a host that sits behind a slow wire (see slow.py)."""
    return f"{spec.link(name)}w"


def up(spec: EstateSpec) -> None:
    """Make the bridge, and for every host its namespace and veth with its static address; keeps what exists."""
    if not link_exists(spec.bridge):
        run(["ip", "link", "add", spec.bridge, "type", "bridge"])
        Path(f"/proc/sys/net/ipv6/conf/{spec.bridge}/disable_ipv6").write_text("1", encoding="ascii")
        run(["ip", "address", "add", f"{spec.gateway}/24", "dev", spec.bridge])
        run(["ip", "link", "set", spec.bridge, "up"])
    for host in spec.hosts:
        _host_up(spec, host.name)


def _host_up(spec: EstateSpec, name: str) -> None:
    link = spec.link(name)
    if not Path("/run/netns", link).exists():
        run(["ip", "netns", "add", link])
        run(["ip", "-n", link, "link", "set", "lo", "up"])
    if link_exists(link):
        return
    run(["ip", "link", "add", link, "type", "veth", "peer", "name", INSIDE, "netns", link])
    run(["ip", "link", "set", link, "master", spec.bridge, "up"])
    run(["ip", "-n", link, "address", "add", f"{spec.address(name)}/24", "dev", INSIDE])
    run(["ip", "-n", link, "link", "set", INSIDE, "up"])


def down(spec: EstateSpec) -> None:
    """Remove everything `up` and the faults made, also when only a part of it exists."""
    run(["nft", "delete", "table", "bridge", spec.table], check=False)
    for link in links(spec):
        run(["ip", "link", "delete", link], check=False)
    for space in namespaces(spec):
        run(["ip", "netns", "delete", space], check=False)
    run(["ip", "link", "delete", spec.bridge], check=False)


def link_exists(name: str) -> bool:
    return Path("/sys/class/net", name).exists()


def links(spec: EstateSpec) -> list[str]:
    """Interfaces of this estate on the machine's side, by their names, without the bridge."""
    return sorted(p.name for p in Path("/sys/class/net").iterdir() if p.name.startswith(f"{spec.bridge}-"))


def namespaces(spec: EstateSpec) -> list[str]:
    folder = Path("/run/netns")
    return sorted(p.name for p in folder.glob(f"{spec.bridge}-*")) if folder.is_dir() else []


def isolate(spec: EstateSpec, group: Sequence[str], cut: Sequence[str]) -> None:
    """Set the estate's faults to exactly these: `group` parted from the other hosts, each of `cut` from everybody.

    One nft transaction, so there is no moment with half of the rules. Both empty removes the table.
    """
    lines = [f"table bridge {spec.table}", f"delete table bridge {spec.table}"]
    if group or cut:
        body = ["chain forward { type filter hook forward priority 0; policy accept;"]
        rest = [h.name for h in spec.hosts if h.name not in group]
        if group and rest:
            inner, outer = _names(spec, group), _names(spec, rest)
            body += [f"iifname {inner} oifname {outer} drop", f"iifname {outer} oifname {inner} drop"]
        body.append("}")
        if cut:
            body += ["chain pre { type filter hook prerouting priority 0; policy accept;"]
            body += [f"iifname {_names(spec, cut)} drop", "}"]
            body += ["chain post { type filter hook postrouting priority 0; policy accept;"]
            body += [f"oifname {_names(spec, cut)} drop", "}"]
        lines += [f"table bridge {spec.table} {{", *body, "}"]
    run(["nft", "-f", "-"], stdin="\n".join(lines) + "\n")


def _names(spec: EstateSpec, hosts: Sequence[str]) -> str:
    both = [name for h in hosts for name in (spec.link(h), tap(spec, h))]
    return "{ " + ", ".join(f'"{name}"' for name in both) + " }"


def isolation(spec: EstateSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(parted group, cut hosts) as the kernel's rules say now; the group is the smaller side of the partition."""
    asked = run(["nft", "-j", "list", "table", "bridge", spec.table], check=False)
    if not asked.ok:
        return (), ()
    by_link = {spec.link(h.name): h.name for h in spec.hosts}
    group: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    for item in json.loads(asked.out)["nftables"]:
        rule = item.get("rule")
        if rule is None:
            continue
        right = next(e["match"]["right"] for e in rule["expr"] if "match" in e)
        named = right["set"]
        hosts = tuple(sorted(by_link[name] for name in named if name in by_link))
        if rule["chain"] == "forward" and not group:
            group = hosts
        elif rule["chain"] == "pre":
            cut = hosts
    return group, cut
