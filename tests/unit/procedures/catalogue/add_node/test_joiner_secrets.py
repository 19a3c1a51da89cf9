"""What the console does not copy into a new node's file, because a secret is in it: said, and asked for by hand."""

from __future__ import annotations

import pytest

from services.connections.command import MASK
from services.facts.server.option_files import parse_defaults
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.shared.joiner_config import COPIED, config_text
from services.procedures.catalogue.galera.shared.joiner_secrets import set_by_hand
from services.procedures.catalogue.galera.shared.joining import sst_section_copied
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts
from tests.unit.procedures.facts_of_three import BLOCK, PASS, WARN, down, facts, host

Options = tuple[tuple[str, str, str], ...]


def options(sst: str, mysqld: str = "") -> Options:
    """What is kept of these lines of my_print_defaults."""
    return parse_defaults(mysqld, "mysqld") + parse_defaults(sst, "sst")


def estate(donor: Options, joiner: Options = ()) -> Facts:
    """n1 gives, n3 comes."""
    return facts(
        host("n1", options_given=donor),
        down("n3", options_given=joiner, options_files=(("/etc/my.cnf", "[mysqld]\n"),)),
    )


def judged(donor: Options, joiner: Options = ()) -> Check:
    return set_by_hand(estate(donor, joiner), "n3", "n1", COPIED)


def text_of(seen: Facts) -> str:
    return "".join(p for p in config_text(seen, "n1", ("n1", "n2"), "n3", "n3") if isinstance(p, str))


ENCRYPTS = "--encrypt=1\n--encrypt-algo=AES256\n--encrypt-key=hunter2hunter2\n"


def test_that_a_transfer_that_encrypts_is_not_begun_without_the_key_that_a_person_must_set() -> None:
    check = judged(options(ENCRYPTS))
    assert (check.code, check.verdict, check.host) == ("SST-SECRETS", BLOCK, "n3")
    assert check.evidence == "[sst] encrypt_key of n1 is a secret and is not copied; the files of n3 do not have it"
    said = "Write encrypt_key under [sst] into the option files of n3, with the value of n1, before the start."
    assert check.try_ == (said,)


def test_that_the_plan_and_the_file_name_what_is_left_out_and_never_its_mask() -> None:
    text = text_of(estate(options(ENCRYPTS)))
    assert "# Not copied, a secret or not plain; set it by hand on n3 before the start: [sst] encrypt_key\n" in text
    assert "encrypt = 1\nencrypt_algo = AES256\n" in text
    assert MASK not in text
    assert "hunter2" not in text


def test_that_a_key_that_a_person_wrote_into_the_joiners_files_is_enough() -> None:
    check = judged(options(ENCRYPTS), options("--encrypt-key=hunter2hunter2\n"))
    assert check.verdict is PASS
    assert check.evidence == "[sst] encrypt_key is set in the files of n3; it is not compared with n1"


@pytest.mark.parametrize("sst", ["--my-own-word=x\n", "--encrypt=0\n--encrypt-key=x\n"])
def test_that_what_no_encryption_needs_warns(sst: str) -> None:
    assert judged(options(sst)).verdict is WARN


def test_that_a_value_with_a_password_in_its_middle_is_left_out_as_a_whole() -> None:
    seen = estate(options("--encrypt=4\n--inno-backup-opts=--user=sst --password=hunter2\n"))
    assert "[sst] inno_backup_opts" in set_by_hand(seen, "n3", "n1", COPIED).evidence
    assert "inno_backup_opts =" not in text_of(seen)
    assert MASK not in text_of(seen)


def test_that_provider_options_with_a_secret_in_them_are_not_written_with_stars() -> None:
    seen = estate(options("", "--wsrep-on=ON\n--wsrep-provider-options=socket.ssl_key=/k; some.password=hunter2\n"))
    check = set_by_hand(seen, "n3", "n1", COPIED)
    assert check.verdict is BLOCK
    assert "[mysqld] wsrep_provider_options of n1" in check.evidence
    assert "wsrep_provider_options =" not in text_of(seen)


def test_that_files_without_a_secret_pass_and_the_account_of_the_sst_is_copied() -> None:
    assert judged(options("--encrypt=4\n--tca=/ca.pem\n", "--wsrep-sst-auth=sst:hunter2\n")).verdict is PASS


def test_that_the_section_check_does_not_say_that_a_secret_was_copied() -> None:
    said = sst_section_copied(estate(options(ENCRYPTS)), "n3", "n1").evidence
    assert said == "copied from n1: encrypt = 1, encrypt_algo = AES256"


@pytest.mark.parametrize("configured", [True, False])
def test_that_add_node_asks_for_it_of_a_new_host_and_of_a_member_that_returns(configured: bool) -> None:
    own = options("", "--wsrep-cluster-address=gcomm://n1,n2,n3\n") if configured else ()
    seen = estate(options(ENCRYPTS), own)
    procedure = procedure_named("add-node")
    values = filled(procedure.fields(seen, {"joiner": "n3"}), {"joiner": "n3", "donor": "n1"})
    found = [check for check in procedure.preflight(seen, values) if check.code == "SST-SECRETS"]
    assert [check.verdict for check in found] == [BLOCK]
