"""Control items among what validators check: gold items, attention checks, and their own votes asked again."""
