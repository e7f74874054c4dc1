"""Competitions: teams with a fixed budget of examples against a frozen round, ranked by vMER with intervals."""
