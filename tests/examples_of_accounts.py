"""An account for programs of root's that act as another one, where a test may not, or need not, be another account."""

from __future__ import annotations

import os

LENT_TO = f"{os.getuid() or 4711}:{os.getgid() or 4712}"
ONE_ACCOUNT = """setpriv() { while [ "$1" != -- ]; do shift; done; shift; "$@"; }
"""
"""Stands before a program: what it does as the account is done as who runs the test.

A stand-in for a tool lies in a folder of the test's own, into which no other account gets.
"""
