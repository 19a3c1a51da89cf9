"""What the client programs of a server say on their standard error. Pure.

Sources: MariaDB KB "MariaDB Error Code Reference" and MySQL manual "Server Error Message Reference": 1045
ER_ACCESS_DENIED_ERROR, 1698 ER_ACCESS_DENIED_NO_PASSWORD_ERROR; `mariadb` prints 'ERROR 1045 (28000): ...' and ends
with exit code 1 (tried with MariaDB 10.11.18).
"""

from __future__ import annotations

_REFUSED = ("ERROR 1045", "ERROR 1698")


def login_refused(said: str) -> bool:
    """Return whether the server refused the login: its account or its password is wrong, the server itself is there."""
    return any(code in said for code in _REFUSED)
