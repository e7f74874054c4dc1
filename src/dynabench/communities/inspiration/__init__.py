"""Verified examples of others beside the form: opened by choice alone, and recorded as exposure."""
