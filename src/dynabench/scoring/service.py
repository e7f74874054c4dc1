"""Which evaluations there are to run, what became of them, and who may know. Knows no web framework."""
