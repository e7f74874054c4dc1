"""Crowd platforms: studies that recruit paid workers for a round, and the workers themselves."""
