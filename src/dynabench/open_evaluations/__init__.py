"""Open evaluations: chosen models on any dataset, outside the tasks of the platform."""
