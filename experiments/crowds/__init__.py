"""Experiments on crowds: verdicts weighted by reliability, and the error rates of near-duplicates.

`python -m experiments.crowds` writes `docs/explanation/quality-figures.md`.
"""
