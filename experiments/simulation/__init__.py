"""Simulation of collection rounds without people: programs choose examples from a pool with known answers.

Several arms choose equal numbers of examples in different ways, so that adversarial collection can be compared with
random collection. Run it with `python -m experiments.simulation`.
"""
