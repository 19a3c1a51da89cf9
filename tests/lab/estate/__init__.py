"""The lab: estates of real hosts (systemd-nspawn) on one Debian machine. Standard library only.

`Estate(name)` is the way in for tests, `packaging/lab.py` the one for people; resources/docs/lab.md tells what each
verb really does.
"""
