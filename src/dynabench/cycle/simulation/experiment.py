"""The whole experiment of a task: run what is lacking, then say what was found."""

from dynabench.cycle.simulation import material, running
