"""The packages in bare Debian roots: installed, started from the menu on a real X server, a host watched, removed."""
