"""Scripted servers of MongoDB 3.2.5: replica sets, mirrored and replica-set config servers, mongos, without a binary.

Each one is a few threads on loopback that speak the wire protocol, keep their state in a folder, and really ask each
other: they stand in for mongod and mongos where an automated run has none. `test_conformance.py` holds them against the
real ones. They go about four times as fast: a heartbeat each half second, an election within two.
"""
