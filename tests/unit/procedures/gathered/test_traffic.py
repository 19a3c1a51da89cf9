"""What a joiner's start needs besides its data: the members' provider, their certificates, the same encryption."""

from __future__ import annotations

import pytest

from services.facts.machine.system import parse_sizes
from services.facts.model import NodeFacts, ServerFacts
from services.procedures.catalogue.checks.traffic import provider_library, traffic_alike, traffic_files
from services.procedures.plan.checks import Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.traffic_files import library_of, tls_files, wanted_files
from services.procedures.plan.parts.server.options import Options
from services.types import Flavour, Reach
from tests.unit.procedures.host_of import host_of

LIBRARY = "/usr/lib/galera/libgalera_smm.so"
KEY = "/etc/mysql/tls/key.pem"
PASS, WARN, BLOCK = Verdict.PASS, Verdict.WARN, Verdict.BLOCK
TLS = f"socket.ssl=yes; socket.ssl_key={KEY}"


def _host(name: str, provider: str = "", *, files: tuple[tuple[str, int | None], ...] = (), **sst: str) -> HostFacts:
    options = [("mysqld", "wsrep_on", "ON"), *(("sst", option, value) for option, value in sst.items())]
    if provider:
        options.append(("mysqld", "wsrep_provider_options", provider))
    return host_of(name, options_given=tuple(options), traffic_files_sizes=files)


def _donor(
    live: tuple[tuple[str, str], ...] = (("gcache.size", "128M"),),
    *,
    provider: str = "",
    files: tuple[tuple[str, int | None], ...] = ((LIBRARY, 5_000),),
    flavour: Flavour = Flavour.MARIADB,
    **sst: str,
) -> HostFacts:
    made = _host("n1", provider, files=files, **sst)
    node = NodeFacts("n1", 1.0, Reach.FULL, server=ServerFacts(flavour=flavour))
    return host_of(
        "n1",
        node=node,
        options_given=made[Options].given,
        traffic_files_sizes=files,
        provider_options=live,
        provider_path=LIBRARY,
        server_up=True,
    )


def _facts(donor: HostFacts, joiner: HostFacts) -> Facts:
    return Facts(1.0, "uuid", "lab", members=("n1",), candidates=("new",), hosts=(donor, joiner))


def test_that_files_are_asked_for_wherever_some_host_names_them_and_a_relative_path_is_not() -> None:
    one = _host("n1", f"{TLS}; socket.ssl_cert=cert.pem", tca="/etc/mysql/tls/ca.pem")
    assert tls_files(one) == (("[sst] tca", "/etc/mysql/tls/ca.pem"), ("socket.ssl_key", KEY))
    assert library_of(_donor()) == LIBRARY
    assert wanted_files((one, _donor())) == ("/etc/mysql/tls/ca.pem", KEY, LIBRARY)


@pytest.mark.parametrize("said", ["cannot statx '/c'", "cannot stat '/c'", "can't stat '/c'"])
def test_that_a_file_of_which_stat_says_so_is_not_there_and_of_another_nothing_is_known(said: str) -> None:
    error = f"stat: {said}: No such file or directory\nstat: cannot statx '/d': Permission denied\n"
    assert parse_sizes("123 /a b\n", error, ("/a b", "/c", "/d", "/e")) == (("/a b", 123), ("/c", None))


@pytest.mark.parametrize(
    ("files", "verdict", "said"),
    [
        (((LIBRARY, 5_000),), PASS, "as on n1"),
        (((LIBRARY, 4_999),), WARN, "4999 bytes on new"),
        (((LIBRARY, None),), BLOCK, "does not exist on new"),
        ((), WARN, "could not be read"),
    ],
)
def test_that_a_provider_that_is_missing_blocks_and_another_one_warns(
    files: tuple[tuple[str, int | None], ...], verdict: Verdict, said: str
) -> None:
    check = provider_library(_facts(_donor(), _host("new", files=files)), "new", "n1")
    assert check.verdict is verdict
    assert said in check.evidence


@pytest.mark.parametrize(
    ("files", "verdict"), [(((KEY, 1_700),), PASS), (((KEY, None),), BLOCK), ((), WARN)]
)  # fmt: skip
def test_that_a_new_node_needs_the_files_that_its_donors_configuration_names(
    files: tuple[tuple[str, int | None], ...], verdict: Verdict
) -> None:
    seen = _facts(_donor(provider=TLS), _host("new", files=files))
    assert traffic_files(seen, "new", "n1", fresh=True).verdict is verdict


def test_that_a_node_of_its_own_configuration_needs_its_own_files() -> None:
    seen = _facts(_donor(), _host("new", files=((KEY, None),), tkey=KEY))
    assert (
        "new does not have /etc/mysql/tls/key.pem ([sst] tkey)"
        in traffic_files(seen, "new", "n1", fresh=False).evidence
    )
    assert traffic_files(seen, "new", "n1", fresh=True).verdict is PASS


def test_that_a_server_which_encrypts_by_itself_wants_its_certificates_copied() -> None:
    seen = _facts(_donor(flavour=Flavour.PXC), _host("new"))
    assert traffic_files(seen, "new", "n1", fresh=True).verdict is WARN


@pytest.mark.parametrize(
    ("live", "copied", "own", "fresh", "verdict"),
    [
        ((("socket.ssl", "YES"),), TLS, "", True, PASS),
        ((("socket.ssl", "YES"),), TLS, "", False, BLOCK),
        ((("socket.ssl", "NO"),), "", TLS, True, BLOCK),
        ((("socket.checksum", "2"),), "gcache.size=1G", TLS, True, PASS),
        ((("socket.checksum", "2"),), "", "", False, PASS),
        ((), TLS, TLS, False, WARN),
    ],
)
def test_that_a_plain_node_is_kept_from_nodes_that_encrypt(
    live: tuple[tuple[str, str], ...], copied: str, own: str, fresh: bool, verdict: Verdict
) -> None:
    seen = _facts(_donor(live, provider=copied), _host("new", own))
    assert traffic_alike(seen, "new", "n1", fresh=fresh).verdict is verdict
