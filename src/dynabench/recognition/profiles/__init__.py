"""Profiles of people, public where they chose to show them."""
