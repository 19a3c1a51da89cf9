"""Settings whose values may be shown: those known to be harmless, and no other."""

from __future__ import annotations

import pytest

from services.facts.server.harmless_options import is_secret
from services.facts.server.option_files import masked_file, parse_defaults
from services.procedures.catalogue.galera.shared.joiner_config import COPIED

SECRET = "S3cret!pw"
SECRETS = (
    "file_key_management_filekey",
    "loose-file-key-management-filekey",
    "authentication_ldap_simple_bind_root_pwd",
    "authentication_ldap_sasl_bind_root_pwd",
    "ldap_bindpw",
    "hashicorp_key_management_token",
    "keyring_hashicorp_secret_id",
    "keyring_okv_conf_dir",
    "keyring_vault_config",
    "aws_key_management_master_key_id",
    "wsrep_sst_auth",
    "report-password",
    "ssl_passphrase",
    "innodb_encrypt_key",
    "encrypt-key",
    "of_a_plugin_that_nobody_knows_yet",
    "init_connect",
)


@pytest.mark.parametrize("option", SECRETS)
def test_that_a_setting_not_known_to_be_harmless_is_masked_in_files_and_in_what_a_server_reads(option: str) -> None:
    assert SECRET not in masked_file(f"[mysqld]\n{option} = {SECRET}\n#{option}={SECRET}\n")
    assert SECRET not in repr(parse_defaults(f"--{option}={SECRET}\n", "mysqld"))


def test_that_what_procedures_copy_and_compare_stays_readable() -> None:
    used = (*COPIED, "datadir", "log_error", "port", "server_id", "tmpdir", "innodb_redo_log_capacity", "log_bin_index",
            "wsrep_cluster_address", "wsrep_node_address", "wsrep_node_name", "wsrep_sst_donor", "socket", "user",
            "file_key_management_filename", "read-only", "ssl-ca", "ssl_key", "bind-address")  # fmt: skip
    assert [option for option in used if is_secret(option)] == []
    text = "[mysqld]\nserver_id = 5\nbind-address = 10.0.0.1\n!includedir /etc/x\n# words of a person\n"
    assert masked_file(text) == text
