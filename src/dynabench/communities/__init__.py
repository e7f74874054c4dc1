"""Classes, teams, competitions, and the examples of others as inspiration."""
