"""Dynabench: people try to fool models, other people check the attempts, the checked attempts become benchmarks."""

__version__ = "0.1.0"
