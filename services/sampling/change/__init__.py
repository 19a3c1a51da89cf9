"""Measuring a change: two windows of time, the metrics in them compared, with what can't be said of them."""
