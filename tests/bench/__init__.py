"""Benchmarks: one module per budget, each measuring both sides in one run. They report; they fail nothing."""
