"""What the benchmarks share: probes, peers, private servers, recorded streams."""
