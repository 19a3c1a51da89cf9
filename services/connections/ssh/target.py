"""Where an SSH connection goes and how: the inventory's words and ssh_config's, put together in one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.connections.openssh.known_hosts_command import KnownHostsCommand


def named_after(host: str, port: int) -> str:
    """Return the name that host keys are kept under where no HostKeyAlias says another."""
    return host.lower() if port == 22 else f"[{host.lower()}]:{port}"


@dataclass(frozen=True, slots=True)
class SshTarget:
    """One hop, fully resolved; names and meanings as in man ssh_config(5).

    Attributes:
        alias: what the person wrote; host, port: where it connects; user: the login.
        key_name: the name host keys are kept under (HostKeyAlias, or host with its port where that is not 22).
        identity_files: private keys in the order to try, existing or not; explicit_key: the person named the key.
        certificates: certificate files; identities_only: offer nothing the agent holds beyond identity_files.
        use_agent: ask the agent; agent_socket: IdentityAgent ('' = SSH_AUTH_SOCK).
        jumps: ProxyJump hops in order, as written; proxy_command: '' when none.
        known_hosts: files read, the first is the one written to; global_known_hosts: read only.
        known_hosts_command: KnownHostsCommand, whose lines count as those of the files; None when none.
        revoked_keys: RevokedHostKeys: lists of keys that no host may show; each has to be readable.
        host_key_algorithms: HostKeyAlgorithms, '' for any; required_rsa_bits: RequiredRSASize; check_ip: CheckHostIP.
        ciphers, macs, kex, pubkey_algorithms, ca_algorithms: Ciphers, MACs, KexAlgorithms, PubkeyAcceptedAlgorithms and
            CASignatureAlgorithms as written, '' for this program's own.
        offers_keys: neither PubkeyAuthentication nor PreferredAuthentications leaves keys out.
        pkcs11_provider: PKCS11Provider, whose keys are not read here; '' when none.
        address_family: AddressFamily, 'any', 'inet' or 'inet6'; bind_address: BindAddress, '' when none.
        strict: StrictHostKeyChecking: 'yes', 'accept-new' or 'ask' ('no' and 'off' are read as 'ask': a key is never
            trusted unseen).
        hash_known_hosts: HashKnownHosts; connect_timeout_s, alive_interval_s: None when not set; alive_count: misses.
    """

    alias: str
    host: str
    port: int
    user: str
    key_name: str
    identity_files: tuple[str, ...] = ()
    explicit_key: bool = False
    certificates: tuple[str, ...] = ()
    identities_only: bool = False
    use_agent: bool = True
    agent_socket: str = ""
    jumps: tuple[str, ...] = ()
    proxy_command: str = ""
    known_hosts: tuple[str, ...] = ()
    global_known_hosts: tuple[str, ...] = ()
    known_hosts_command: KnownHostsCommand | None = None
    revoked_keys: tuple[str, ...] = ()
    host_key_algorithms: str = ""
    ciphers: str = ""
    macs: str = ""
    kex: str = ""
    pubkey_algorithms: str = ""
    ca_algorithms: str = ""
    offers_keys: bool = True
    pkcs11_provider: str = ""
    address_family: str = "any"
    bind_address: str = ""
    required_rsa_bits: int = 0
    check_ip: bool = False
    strict: str = "ask"
    hash_known_hosts: bool = False
    connect_timeout_s: float | None = None
    alive_interval_s: float | None = None
    alive_count: int | None = None

    @property
    def where(self) -> str:
        """Return user@host:port for sentences."""
        return f"{self.user}@{self.host}" + (f":{self.port}" if self.port != 22 else "")
