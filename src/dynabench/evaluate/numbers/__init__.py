"""Shared parts of the metrics of numbers, ranks and curves."""
