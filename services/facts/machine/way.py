"""Who may change what a path leads to: the owner and mode of it, and of every folder above it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.lines import lines_of

_AT = re.compile(r"at ([-dlbcps])([-rwxsStT]{9})([+.@]?) (\d{1,10}) (\d{1,10}) (/.{0,4096})")
_NUMBERS = re.compile(r"^([UG])id:\s+(\d{1,10})\s+(\d{1,10})\s+(\d{1,10})\s+(\d{1,10})\s*$", re.MULTILINE)
_MOST = 200


@dataclass(frozen=True, slots=True)
class Place:
    """One file or folder of a way.

    Attributes:
        kind: ls(1)'s letter: '-' a file, 'd' a folder; mode: its nine letters; listed: it has an access list.
    """

    path: str
    kind: str
    mode: str
    listed: bool
    owner: int
    group: int

    @property
    def is_sticky(self) -> bool:
        """Return whether nobody may rename there what is another's (/tmp)."""
        return self.mode[8] in "tT"

    def open_to(self, groups: frozenset[int]) -> bool:
        """Return whether others than its owner, root and these groups may write there.

        The group's bits are the mask of an access list (acl(5)): that the group is one of these says nothing then.
        """
        return self.mode[7] == "w" or (self.mode[4] == "w" and (self.listed or self.group not in groups))


def parse_way(text: str) -> tuple[Place, ...] | None:
    """Return what a path leads to first, then each folder above it; None where it was not told to its end."""
    lines = [line for line in lines_of(text)[:_MOST] if line.startswith("at ") or line == "end"]
    found = [_AT.fullmatch(line) for line in lines[:-1]]
    if not lines or lines[-1] != "end" or not found or None in found:
        return None
    places = tuple(
        Place(m[6], m[1], m[2], m[3] == "+", int(m[4]), int(m[5])) for m in found if m is not None
    )  # fmt: skip
    return places if places[-1].path == "/" else None


def parse_account(text: str) -> tuple[int, int] | None:
    """Return (user, group) of a process out of proc(5)'s status; None where it has more than one of either."""
    told = {m[1]: {int(m[n]) for n in range(2, 6)} for m in _NUMBERS.finditer(text)}
    if set(told) != {"U", "G"} or any(len(numbers) != 1 for numbers in told.values()):
        return None
    return next(iter(told["U"])), next(iter(told["G"]))


def not_roots(way: tuple[Place, ...]) -> str:
    """Return what of the way to a file of root's others than root may change; '' for nothing."""
    if way[0].kind != "-":
        return f"{way[0].path} is not a plain file"
    odd = next((at for at in way if at.owner != 0 or at.open_to(frozenset({0}))), None)
    return "" if odd is None else f"others than root may change {odd.path}"


def not_accounts(way: tuple[Place, ...], account: int) -> str:
    """Return what of the way to a folder others than root and this account may change, or whose it is; '' for nothing.

    A folder above it that the account may change is the account's own risk: root does nothing there but as it.
    """
    folder = way[0]
    if folder.kind != "d":
        return f"{folder.path} is no folder"
    if account == 0:
        return f"the account of {folder.path} is root"
    if folder.owner != account:
        return f"{folder.path} belongs to the account with the number {folder.owner}, and the server's is {account}"
    own = frozenset({0, *(at.group for at in way if at.owner == account)})
    odd = next((at for at in way if at.owner not in {0, account} or (at.open_to(own) and not at.is_sticky)), None)
    return "" if odd is None else f"others than root and the server's account may change {odd.path}"
