"""Shared parts of the metrics of classes, tags, ratings and clusters."""
