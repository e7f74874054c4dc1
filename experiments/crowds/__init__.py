"""Experiments on crowds: verdicts weighted by reliability, and the error rates of signals.

`python -m experiments.crowds` writes `docs/explanation/quality-figures.md`.
"""
