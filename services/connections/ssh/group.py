"""diffie-hellman-group-exchange (RFC 4419): the group that a server sends is one before anything is computed with it.

paramiko takes a negative modulus, and then looks for a number below it for ever, before the host key was seen; one of
8192 bits holds every thread of this program for seconds.
"""

from __future__ import annotations

from typing import Any, Final

import paramiko
from paramiko.kex_gex import KexGexSHA256

MOST_BITS: Final = 4096
"""As group16, the largest that has a name here."""


class BoundedGroupExchange(KexGexSHA256):
    """paramiko's, for groups of 1024 to 4096 bits."""

    max_bits = MOST_BITS

    def _parse_kexdh_gex_group(self, m: Any) -> None:
        modulus, base = m.get_mpint(), m.get_mpint()
        m.rewind()
        if modulus.bit_length() > MOST_BITS or modulus % 2 == 0 or not 1 < base < modulus - 1:
            raise paramiko.SSHException("it sent a group that is none")
        super()._parse_kexdh_gex_group(m)  # type: ignore[misc]
