"""Test suites made of templates and words."""
