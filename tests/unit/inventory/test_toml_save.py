"""Writing the inventory: comments and order stay, all or nothing, for the owner only, the old file kept."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.errors import BadInput, StoreError
from services.inventory.lookalikes import skeleton
from services.inventory.model import ClusterEntry, HostEntry, Inventory, SqlAccess, SshAccess
from services.inventory.toml_file import load_inventory, parse_inventory
from services.inventory.toml_save import render_inventory, save_inventory, with_host
from services.secrets import SecretRef
from services.workstation import files
from tests.examples import examples

TEXT = """# my estate
version = 1

[[cluster]]
name = "g"   # galera
seeds = ["n1"]

[defaults.ssh]
user = "dba"
sudo = "nopasswd"

# the first one
[[host]]
name = "n1"
address = "10.0.0.1" # office
[host.sql]
user = "o"
password = "env:X"

[[host]]
name = "n2"
address = "10.0.0.2"
"""


def test_that_saving_what_is_there_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "inventory.toml"
    file.write_text(TEXT, encoding="utf-8")
    save_inventory(load_inventory(file), file)
    assert file.read_text(encoding="utf-8") == TEXT
    assert [p.name for p in tmp_path.iterdir()] == ["inventory.toml"]


@pytest.mark.parametrize("between", ["", "\n", "\n\n# a word\n"])
def test_that_an_unchanged_host_is_left_as_it_is_written_however_close_its_tables_stand(between: str) -> None:
    ways = f'[host.ssh]\nuser = "dba"\nport = 22\n{between}[host.sql]\nuser = "o"\nport = 3306\ntls = "verify"\n'
    text = "version = 1\n\n" + "".join(
        f'[[host]]\nname = "n{n}"\naddress = "10.0.0.{n}"\n{between}{ways}{between}' for n in (1, 2)
    )
    inventory = parse_inventory(text)
    assert render_inventory(with_host(inventory, inventory.hosts[0]), text) == text


def test_that_comments_and_order_survive_a_change_and_defaults_are_not_repeated() -> None:
    inventory = parse_inventory(TEXT)
    changed = replace(inventory.hosts[0], sql=SqlAccess("o", password=SecretRef("env", "X"), port=3307))
    new = HostEntry("n3", "10.0.0.3", SshAccess("dba", sudo="nopasswd"), SqlAccess("z"))
    text = render_inventory(with_host(with_host(inventory, changed), new), TEXT)
    assert text.startswith("# my estate\nversion = 1\n")
    for kept in ('name = "g"   # galera', "# the first one", 'address = "10.0.0.1" # office'):
        assert kept in text
    assert text.count("sudo") == 1
    assert text.index('"n1"') < text.index('"n2"') < text.index('"n3"')
    assert parse_inventory(text).hosts == (changed, inventory.hosts[1], new)


def test_that_a_removed_host_is_gone_and_the_others_stay() -> None:
    inventory = parse_inventory(TEXT)
    text = render_inventory(replace(inventory, hosts=inventory.hosts[:1]), TEXT)
    assert [h.name for h in parse_inventory(text).hosts] == ["n1"]


def test_that_the_file_is_for_its_owner_only_and_the_old_one_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "inventory.toml"
    file.write_text(TEXT, encoding="utf-8")
    file.chmod(0o644)
    save_inventory(with_host(load_inventory(file), HostEntry("n3", "x", SshAccess("dba"))), file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = tmp_path / "inventory.toml.bak"
    assert kept.read_text(encoding="utf-8") == TEXT
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_that_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "inventory.toml"
    real.parent.mkdir()
    real.write_text(TEXT, encoding="utf-8")
    link = tmp_path / "inventory.toml"
    link.symlink_to(real)
    save_inventory(with_host(load_inventory(link), HostEntry("n3", "x", SshAccess("dba"))), link)
    assert link.is_symlink()
    assert load_inventory(real).host("n3") is not None


def test_that_a_faulty_file_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "inventory.toml"
    file.write_text("version = 1\ncolour = 3\n", encoding="utf-8")
    with pytest.raises(BadInput, match="colour"):
        save_inventory(Inventory(), file)
    assert file.read_text(encoding="utf-8") == "version = 1\ncolour = 3\n"


def test_that_an_inventory_which_would_not_read_back_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "inventory.toml"
    file.write_text(TEXT, encoding="utf-8")
    twice = Inventory(hosts=(HostEntry("a", "a"), HostEntry("a", "b")))
    orphan = Inventory(clusters=(ClusterEntry("g", ("nobody",)),))
    for bad in (twice, orphan, Inventory(hosts=(HostEntry("a", "-x"),))):
        with pytest.raises(BadInput):
            save_inventory(bad, file)
    assert file.read_text(encoding="utf-8") == TEXT
    assert [p.name for p in tmp_path.iterdir()] == ["inventory.toml"]


def test_that_a_default_which_can_not_be_unset_is_told() -> None:
    text = 'version = 1\n[defaults.ssh]\nkey = "k"\n[[host]]\nname = "a"\naddress = "a"\n'
    inventory = parse_inventory(text)
    without = replace(inventory, hosts=(replace(inventory.hosts[0], ssh=SshAccess("")),))
    with pytest.raises(BadInput, match=r"""cannot be unset \("key" in \[host.ssh\] of host "a"\)"""):
        render_inventory(without, text)


def test_that_a_host_may_take_its_login_from_ssh_config_beside_a_default_one() -> None:
    text = 'version = 1\n[defaults.ssh]\nuser = "dba"\n[[host]]\nname = "a"\naddress = "a"\n'
    inventory = with_host(parse_inventory(text), HostEntry("b", "b", SshAccess("")))
    written = render_inventory(inventory, text)
    assert [host.ssh.user for host in parse_inventory(written).hosts if host.ssh] == ["dba", ""]


def test_that_a_failing_disk_leaves_the_old_file_and_no_rubbish_with_a_scripted_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "inventory.toml"
    file.write_text(TEXT, encoding="utf-8")
    inventory = with_host(load_inventory(file), HostEntry("n3", "x", SshAccess("dba")))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        save_inventory(inventory, file)
    assert file.read_text(encoding="utf-8") == TEXT
    assert [p.name for p in tmp_path.iterdir()] == ["inventory.toml"]


def test_that_a_new_file_is_made_with_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "new" / "inventory.toml"
    save_inventory(Inventory(hosts=(HostEntry("a", "b"),)), file)
    assert load_inventory(file).host("a") == HostEntry("a", "b")
    assert [p.name for p in file.parent.iterdir()] == ["inventory.toml"]


_word = st.text(alphabet="abcXYZ09._ü", min_size=1, max_size=8)
_address = st.from_regex(r"[a-z][a-z0-9_-]{0,6}(\.[a-z][a-z0-9]{0,3})?", fullmatch=True) | st.ip_addresses().map(str)
_ref = st.one_of(st.none(), _word.map(lambda name: SecretRef("keyring", name)))
_ssh = st.builds(
    SshAccess,
    user=st.one_of(st.just(""), _word),
    port=st.integers(1, 65535),
    key=st.one_of(st.none(), _word),
    passphrase=_ref,
    password=_ref,
    sudo=st.sampled_from(["none", "nopasswd"]),
    jump=st.one_of(st.none(), _address.filter(lambda one: ":" not in one)),
    config=st.one_of(st.none(), st.just(""), _word),
    agent=st.booleans(),
)
_sql = st.builds(
    SqlAccess,
    user=_word,
    password=_ref,
    port=st.integers(1, 65535),
    tls=st.sampled_from(["off", "required", "verify", "verify-ca", "verify-identity"]),
    ca=st.one_of(st.none(), _word),
    heartbeat_table=st.sampled_from([None, "percona.heartbeat"]),
    operator_user=st.just("pilot"),
    operator_password=_ref,
)
_host = st.builds(
    HostEntry, name=_word, address=_address, ssh=st.one_of(st.none(), _ssh), sql=st.one_of(st.none(), _sql)
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(_host, max_size=4, unique_by=lambda h: skeleton(h.name)), st.sampled_from(["", "version = 1\n"]))
def test_that_any_inventory_reads_back_as_it_was_written(hosts: list[HostEntry], text: str) -> None:
    inventory = Inventory(hosts=tuple(hosts), clusters=(ClusterEntry("c", (hosts[0].name,)),) if hosts else ())
    assert parse_inventory(render_inventory(inventory, text)) == inventory


def test_that_a_name_that_is_no_utf_8_is_refused_and_the_file_left_as_it_was(tmp_path: Path) -> None:
    """TOML is UTF-8: another name in its place would be another file."""
    file = tmp_path / "inventory.toml"
    host = HostEntry("db1", "10.0.0.1", ssh=SshAccess("dba", config="/home/jos\udce9/config"))
    with pytest.raises(BadInput, match=r'is not UTF-8 text, as TOML requires \(config = "/home/jos\ufffd/config"\)'):
        save_inventory(Inventory(hosts=(host,), path=str(file)), file)
    assert not file.exists()
