"""Metric catalogue, rates and samplers."""
