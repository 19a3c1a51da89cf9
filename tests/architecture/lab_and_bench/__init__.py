"""The lab and the benchmarks, as far as they need no host."""
