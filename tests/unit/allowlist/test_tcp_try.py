"""The one TCP connection that the Observer road may try from a host: exactly one form, host and port as words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.connections.command import Command
from services.connections.observer.allowlist import check_command
from services.connections.programs.os_loops import OS_LOOP
from services.connections.programs.read_programs import TCP_TRY
from services.errors import Refused
from tests.examples import examples

MANY = settings(max_examples=examples(600), deadline=None)


def allowed(made: Command) -> bool:
    try:
        check_command(made)
    except Refused:
        return False
    return True


def tcp_try(*words: str) -> tuple[str, ...]:
    return ("timeout", "3", "bash", "-c", TCP_TRY, "pilothouse", *words)


@pytest.mark.parametrize("address", ["n1", "10.213.1.11", "db1.example.com", "fd00::1", "node_1"])
def test_that_one_tcp_connection_may_be_tried_to_any_host_and_port(address: str) -> None:
    for port in ("1", "4567", "65535"):
        check_command(Command(tcp_try(address, port), environment=(("LC_ALL", "C"),)))


@pytest.mark.parametrize(
    "argv",
    [
        tcp_try("n1"),
        tcp_try("n1", "4567", "x"),
        tcp_try("n1", "0"),
        tcp_try("n1", "65536"),
        tcp_try("n1", "-1"),
        tcp_try("n1", "45\n67"),
        tcp_try("n1", "\u0661"),
        tcp_try("n1", "4567/../x"),
        tcp_try("", "4567"),
        tcp_try("-n1", "4567"),
        tcp_try("../../etc", "4567"),
        tcp_try("a/b", "4567"),
        tcp_try("a b", "4567"),
        tcp_try("$(reboot)", "4567"),
        tcp_try("a;reboot", "4567"),
        tcp_try("a\n", "4567"),
        tcp_try("x" * 300, "4567"),
        ("timeout", "9", *tcp_try("n1", "4567")[2:]),
        ("timeout", "-s", "KILL", *tcp_try("n1", "4567")[1:]),
        ("timeout", "3", "sh", *tcp_try("n1", "4567")[3:]),
        ("timeout", "3", "bash", "-lc", *tcp_try("n1", "4567")[4:]),
        ("timeout", "3", "bash", "-c", TCP_TRY + "; reboot", "pilothouse", "n1", "4567"),
        ("timeout", "3", "bash", "-c", TCP_TRY.replace("<", ">"), "pilothouse", "n1", "4567"),
        ("timeout", "3", "bash", "-c", OS_LOOP, "pilothouse", "n1", "4567"),
        ("bash", "-c", TCP_TRY, "pilothouse", "/etc/shadow"),
        ("/usr/bin/timeout", *tcp_try("n1", "4567")[1:]),
    ],
)
def test_that_no_other_form_of_the_try_passes(argv: tuple[str, ...]) -> None:
    assert not allowed(Command(argv))
    assert not allowed(Command(argv, sudo=True))


@MANY
@given(st.text(max_size=20), st.text(max_size=8))
def test_that_whatever_host_and_port_pass_hold_no_way_of_their_own(host: str, port: str) -> None:
    if "\0" not in host + port and allowed(Command(tcp_try(host, port))):
        assert re.fullmatch(r"[A-Za-z0-9_.:-]+", host, re.ASCII)
        assert 0 < int(port) < 65536


def test_that_the_try_sends_and_writes_nothing() -> None:
    assert ">" not in TCP_TRY
    assert re.findall(r"[A-Za-z]+", TCP_TRY) == ["dev", "tcp"]
