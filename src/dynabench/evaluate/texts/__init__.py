"""Shared parts of the metrics of texts: tokens, n-grams, edits, answers."""
