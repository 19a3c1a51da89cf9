"""Configurations of public reports, in their kind: where each leads, or in which words it does not.

Each is asked of this machine's ssh and of our own reader; both give the same answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.connections.ssh.config import target_for
from services.errors import BadInput
from services.inventory.model import SshAccess

pytestmark = pytest.mark.usefixtures("either_reader")

_SSM = "sh -c \"aws ssm start-session --target {} --document-name AWS-StartSSHSession --parameters 'portNumber={}'\""
LEADS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "IgnoreUnknown before UseKeychain, an Include that is not there (zgeoff/dotfiles 185)": (
        "IgnoreUnknown UseKeychain\nInclude ~/.no-such-folder/ssh/config\nHost *\n UseKeychain yes\n User dba\n",
        "db1",
        {"user": "dba"},
    ),
    "a key in quotes (paramiko 157)": (
        'Host db1\n IdentityFile "/my path/key"\n',
        "db1",
        {"identity_files": ("/my path/key",)},
    ),
    "a session manager as ProxyCommand, `host` in small letters (paramiko 1544)": (
        f"host i-* mi-*\n    ProxyCommand {_SSM.format('%h', '%p')}\n",
        "i-0abc",
        {"proxy_command": _SSM.format("i-0abc", 22)},
    ),
    "systemd's ssh proxy beside ordinary hosts (quantumsheep/sshs 124)": (
        (
            "Host unix/* vsock/* machine/*\n  ProxyCommand /usr/lib/systemd/systemd-ssh-proxy %h %p\n"
            "  ProxyUseFdpass yes\n"
            "  UserKnownHostsFile /dev/null\nHost db1\n  User dba\n"
        ),
        "db1",
        {"user": "dba", "proxy_command": ""},
    ),
    "a remark with an apostrophe behind Host (paramiko 2111)": (
        "host 172.16.0.1  # Bob's server\n User bob\n",
        "172.16.0.1",
        {"user": "bob"},
    ),
    "ProxyJump none before a pattern that has one (paramiko 2285, pyinfra 1445)": (
        "Host bastion.example.com\n ProxyJump none\nHost *.example.com\n ProxyJump bastion.example.com\n",
        "bastion.example.com",
        {"jumps": (), "proxy_command": ""},
    ),
    "a hop by address, the key behind it in Host * (net-ssh 587)": (
        (
            "Host proxied\n Hostname 10.0.0.1\n ProxyJump root@100.100.100.100:22\n"
            "Host *\n User root\n IdentityFile /k/id\n"
        ),
        "proxied",
        {"host": "10.0.0.1", "jumps": ("root@100.100.100.100:22",), "identity_files": ("/k/id",)},
    ),
    "an agent whose socket has a blank in its path, in quotes (1Password)": (
        'Host *\n\tIdentityAgent "/Library/Group Containers/x.1password/t/agent.sock"\n',
        "db1",
        {"agent_socket": "/Library/Group Containers/x.1password/t/agent.sock"},
    ),
    "MACs of which the first is not known here (nix configurations)": (
        "Host db1\n MACs umac-128-etm@openssh.com,hmac-sha2-512-etm@openssh.com\n",
        "db1",
        {"macs": "umac-128-etm@openssh.com,hmac-sha2-512-etm@openssh.com"},
    ),
    "old ciphers, two lines of KexAlgorithms, a pattern that leaves the hop out (paramiko 1895)": (
        (
            "Host * !gate.example.com\n KexAlgorithms ecdh-sha2-nistp256\n KexAlgorithms +curve25519-sha256\n"
            " Ciphers 3des-cbc,aes128-ctr\n ProxyCommand ssh -W %h:%p -q %r@gate.example.com\n"
        ),
        "hosta",
        {
            "ciphers": "3des-cbc,aes128-ctr",
            "kex": "ecdh-sha2-nistp256",
            "proxy_command": "ssh -W hosta:22 -q dba@gate.example.com",
        },
    ),
    "Match final host of a name that HostName gave (paramiko 1907)": (
        (
            'Host short\n HostName db.example.org\nMatch final host "*.example.org" !host jump.example.org\n'
            " ProxyJump jump\n Port 1002\n"
        ),
        "short",
        {"host": "db.example.org", "port": 1002, "jumps": ("jump",)},
    ),
    "Match Host in capitals with exec and its opposite (vscode-remote-release 37)": (
        (
            'Match Host home exec "false"\n Hostname 192.168.9.9\nMatch Host home !exec "false"\n Hostname away.org\n'
            " ControlMaster auto\n ControlPath ~/.ssh/sockets/%r@%h-%p\n ControlPersist 600\n"
        ),
        "home",
        {"host": "away.org"},
    ),
    "exec before host, negated (blink 970)": (
        'Match !exec "false %h" host *.my.org,!jump*\n ProxyJump me@jump.my.org\nHost *\n Port 2022\n',
        "db.my.org",
        {"jumps": ("me@jump.my.org",), "port": 2022},
    ),
    "braces in a ProxyCommand (teleport 13170)": (
        "Host *.example.com\n Port 3022\n ProxyCommand tsh proxy ssh -J {{proxy}} %r@%h:%p\n",
        "db.example.com",
        {"proxy_command": "tsh proxy ssh -J {{proxy}} dba@db.example.com:3022"},
    ),
    "lines that end as on Windows, and lists that add ssh-rsa (vagrant ssh-config)": (
        (
            "Host default\r\n  HostName 127.0.0.1\r\n  Port 2222\r\n  IdentityFile C:/Users/u/.vagrant/private_key\r\n"
            "  LogLevel FATAL\r\n  PubkeyAcceptedKeyTypes +ssh-rsa\r\n  HostKeyAlgorithms +ssh-rsa\r\n"
        ),
        "default",
        {"host": "127.0.0.1", "port": 2222, "identity_files": ("C:/Users/u/.vagrant/private_key",)},
    ),
    "a virtual machine by `az ssh config`: a login with an @, a certificate and its key in quotes (cyberduck 17791)": (
        (
            'Match host vm1 exec "test -d / && true --name vm1 --overwrite --yes"\n\nHost vm1\n\tHostName 20.1.2.3\n'
            '\tUser jane@contoso.example\n\tCertificateFile "/az/vm 1/id_rsa.pub-aadcert.pub"\n'
            '\tIdentityFile "/az/vm 1/id_rsa"\n'
        ),
        "vm1",
        {
            "user": "jane@contoso.example",
            "host": "20.1.2.3",
            "certificates": ("/az/vm 1/id_rsa.pub-aadcert.pub",),
            "identity_files": ("/az/vm 1/id_rsa",),
        },
    ),
    "a machine of Azure Arc: a ProxyCommand in quotes with an option that has a blank": (
        'Host arc1\n\tHostName arc1\n\tProxyCommand "/home/u/.clientsshproxy/sshProxy_linux" -r "/az/relay info"\n',
        "arc1",
        {"proxy_command": '"/home/u/.clientsshproxy/sshProxy_linux" -r "/az/relay info"'},
    ),
    "`gcloud compute config-ssh`: an = for each blank, an alias for the key (google-cloud-python 1969)": (
        (
            "# Google Compute Engine Section\nHost vm1.us-central1-a.my-project\n    HostName 34.1.2.3\n"
            "    IdentityFile /home/u/.ssh/google_compute_engine\n"
            "    UserKnownHostsFile=/home/u/.ssh/google_compute_known_hosts\n    HostKeyAlias=compute.123\n"
            "    IdentitiesOnly=yes\n    CheckHostIP=no\n# End of Google Compute Engine Section\n"
        ),
        "vm1.us-central1-a.my-project",
        {
            "host": "34.1.2.3",
            "key_name": "compute.123",
            "known_hosts": ("/home/u/.ssh/google_compute_known_hosts",),
            "identities_only": True,
            "check_ip": False,
        },
    ),
    "a tunnel of Google's IAP: every word of a ProxyCommand in quotes, ProxyUseFdpass no": (
        (
            "Host vm1\n HostName compute.123\n ProxyCommand '/usr/bin/python3' '-S' '/g/gcloud.py' compute "
            "start-iap-tunnel vm1 %p --listen-on-stdin\n ProxyUseFdpass no\n StrictHostKeyChecking=yes\n"
        ),
        "vm1",
        {
            "proxy_command": "'/usr/bin/python3' '-S' '/g/gcloud.py' compute start-iap-tunnel vm1 22 --listen-on-stdin",
            "strict": "yes",
        },
    ),
    "`tsh config`: host certificates alone, a port for all but the proxy (teleport 8920)": (
        (
            'Host *.example.com gate.example.com\n    UserKnownHostsFile "/home/u/.tsh/known_hosts"\n'
            '    IdentityFile "/home/u/.tsh/keys/gate/joe"\n'
            '    CertificateFile "/home/u/.tsh/keys/gate/joe-ssh/example.com-cert.pub"\n'
            "    PubkeyAcceptedKeyTypes +ssh-rsa-cert-v01@openssh.com\n"
            "    HostKeyAlgorithms rsa-sha2-512-cert-v01@openssh.com,ssh-rsa-cert-v01@openssh.com\n\n"
            "Host *.example.com !gate.example.com\n    Port 3022\n"
            '    ProxyCommand "/usr/local/bin/tsh" proxy ssh --cluster=example.com --proxy=gate:443 %r@%h:%p\n'
        ),
        "db.example.com",
        {
            "port": 3022,
            "certificates": ("/home/u/.tsh/keys/gate/joe-ssh/example.com-cert.pub",),
            "host_key_algorithms": "rsa-sha2-512-cert-v01@openssh.com,ssh-rsa-cert-v01@openssh.com",
            "key_name": "[db.example.com]:3022",
        },
    ),
    "a session manager that is told the region by the host's name, through a shell": (
        (
            "Host i-* mi-*\n ProxyCommand bash -c \"aws ssm start-session --target $(echo %h | cut -d'.' -f1) --region "
            "$(echo %h | cut -d'.' -f2) --parameters 'portNumber=%p'\"\n"
        ),
        "i-0abc.eu-west-1",
        {
            "proxy_command": (
                "bash -c \"aws ssm start-session --target $(echo i-0abc.eu-west-1 | cut -d'.' -f1) --region "
                "$(echo i-0abc.eu-west-1 | cut -d'.' -f2) --parameters 'portNumber=22'\""
            )
        },
    ),
    "1Password: an agent at home, and bookmarks with public keys whose names have blanks": (
        (
            'Match Host "db1" exec "test 1 = 1"\n  IdentityFile "/1p/prod key.pub"\n  IdentitiesOnly yes\n'
            '  User "dba"\nHost *\n  IdentityAgent "/home/u/.1password/agent.sock"\n'
        ),
        "db1",
        {
            "identity_files": ("/1p/prod key.pub",),
            "agent_socket": "/home/u/.1password/agent.sock",
            "user": "dba",
            "identities_only": True,
        },
    ),
    "a YubiKey: GnuPG's agent that a Match exec wakes, a module of tokens, keys put into the agent for an hour": (
        (
            "Host *\n PKCS11Provider /usr/lib/opensc-pkcs11.so\n IdentityAgent /run/user/1000/gnupg/S.gpg-agent.ssh\n"
            " SecurityKeyProvider internal\n AddKeysToAgent confirm 1h\n"
            'Match host * exec "gpg-connect-agent-is-not-here UPDATESTARTUPTTY /bye >/dev/null 2>&1 || true"\n'
            " IdentityFile /home/u/.ssh/id_ed25519_sk_rk_yubi\n"
        ),
        "db1",
        {
            "pkcs11_provider": "/usr/lib/opensc-pkcs11.so",
            "agent_socket": "/run/user/1000/gnupg/S.gpg-agent.ssh",
            "identity_files": ("/home/u/.ssh/id_ed25519_sk_rk_yubi",),
        },
    ),
    "Cloudflare's access: a Match exec that makes the key and its certificate, named by the host": (
        (
            'Match host db.example.com exec "true access ssh-gen --hostname %h"\n'
            "  ProxyCommand /usr/local/bin/cloudflared access ssh --hostname %h\n"
            "  IdentityFile /cf/%h-cf_key\n  CertificateFile /cf/%h-cf_key-cert.pub\n"
        ),
        "db.example.com",
        {
            "identity_files": ("/cf/db.example.com-cf_key",),
            "certificates": ("/cf/db.example.com-cf_key-cert.pub",),
            "proxy_command": "/usr/local/bin/cloudflared access ssh --hostname db.example.com",
        },
    ),
    "an overlay network's Match exec with its own files of keys (smallstep, NetBird, Tailscale)": (
        (
            'Match exec "true ssh check-host %h"\n\tUserKnownHostsFile "/home/u/.step/ssh/known_hosts"\n'
            '\tProxyCommand step ssh proxycommand %r %h %p --provisioner "my prov"\n'
            "\tBatchMode no\n\tUpdateHostKeys no\n"
        ),
        "db1.tail1234.ts.net",
        {
            "known_hosts": ("/home/u/.step/ssh/known_hosts",),
            "proxy_command": 'step ssh proxycommand dba db1.tail1234.ts.net 22 --provisioner "my prov"',
        },
    ),
    "a workspace by `coder config-ssh`: no limit, a remark within the block": (
        (
            "Host coder.*\n\tConnectTimeout=0\n\tStrictHostKeyChecking=no\n\t# Without this it changes\n"
            "\tUserKnownHostsFile=/dev/null\n\tSetEnv CODER_SSH_SESSION_TYPE=vscode\n"
            '\tProxyCommand "/usr/local/bin/coder" --global-config "/c" ssh --stdio --ssh-host-prefix coder. %h\n'
        ),
        "coder.ws",
        {"connect_timeout_s": None, "known_hosts": (), "strict": "ask"},
    ),
    "a virtual machine of Lima: a list that puts first, in quotes, a control socket of its own": (
        (
            'Host lima-default\n  IdentityFile "/Users/x/.lima/_config/user"\n'
            "  NoHostAuthenticationForLocalhost yes\n  PreferredAuthentications publickey\n  Compression no\n"
            '  Ciphers "^aes128-gcm@openssh.com,aes256-gcm@openssh.com"\n  ControlPersist yes\n'
            "  Hostname 127.0.0.1\n  Port 60022\n"
        ),
        "lima-default",
        {"host": "127.0.0.1", "port": 60022, "key_name": "[127.0.0.1]:60022", "offers_keys": True},
    ),
    "a bastion by chance: a shell's arithmetic, and %% in its line": (
        (
            "Host *.prod\n HostName %h.example.com\n"
            " ProxyCommand ssh -q -W %h:%p -l %r gw$(( RANDOM %% 2 )).example.com\n"
        ),
        "db.prod",
        {
            "host": "db.prod.example.com",
            "proxy_command": "ssh -q -W db.prod.example.com:22 -l dba gw$(( RANDOM % 2 )).example.com",
        },
    ),
    "Windows' paths with their ends of line, a known_hosts in quotes": (
        (
            "Host db1\r\n  IdentityFile C:\\Users\\me\\.ssh\\id\r\n"
            '  UserKnownHostsFile "C:\\Users\\Joe Doe\\known_hosts"\r\n'
            "  ProxyCommand C:\\Windows\\System32\\OpenSSH\\ssh.exe -W %h:%p bastion\r\n"
        ),
        "db1",
        {
            "identity_files": ("C:\\Users\\me\\.ssh\\id",),
            "known_hosts": ("C:\\Users\\Joe Doe\\known_hosts",),
            "proxy_command": "C:\\Windows\\System32\\OpenSSH\\ssh.exe -W db1:22 bastion",
        },
    ),
}
REFUSED = {
    "UseKeychain on another system than Apple's (mosh 1305, vscode-remote-release 2111)": (
        "Host *\n AddKeysToAgent yes\n UseKeychain yes\n",
        r"line 3: .*usekeychain",
    ),
    "Teleport's machine id, whose program passes the connection on (tbot)": (
        "Host *\n ProxyCommand 'fdpass-teleport' foo %h:%p\n ProxyUseFDPass yes\n",
        r"sets ProxyUseFdpass for db1, which Pilothouse does not support",
    ),
    "a colon behind a word": (
        "Host db1\n HostName: 10.0.0.1\n",
        r"line 2: .*hostname:",
    ),
    "a hop with a slash in its name (fast-ssh 26)": (
        "Host db1\n ProxyJump work/jump-prod\n",
        r'line 2: .*work/jump-prod"',
    ),
    "an agent's path with a blank and no quotes (nix configurations)": (
        "Host *\n IdentityAgent ~/Library/Group Containers/x/agent.sock\n",
        r"line 2: .*identityagent",
    ),
    "a private key that an Include names (vscode-remote-release 6854)": (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n",
        r"line 1: .*-----begin",
    ),
}


@pytest.mark.parametrize("case", LEADS)
def test_that_a_reported_file_leads_where_ssh_goes(tmp_path: Path, case: str) -> None:
    text, address, expected = LEADS[case]
    (tmp_path / "config").write_bytes(text.encode())
    given = "" if "user" in expected else "dba"
    found = target_for(SshAccess(given, config=str(tmp_path / "config")), address)
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize("case", REFUSED)
def test_that_a_reported_file_that_ssh_refuses_is_refused_with_its_line(tmp_path: Path, case: str) -> None:
    text, words = REFUSED[case]
    (tmp_path / "config").write_text(text)
    with pytest.raises(BadInput, match=words):
        target_for(SshAccess("dba", config=str(tmp_path / "config")), "db1")
