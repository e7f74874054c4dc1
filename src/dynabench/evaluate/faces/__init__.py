"""Shared parts of command line, pages and API: reading pasted columns, checking options, showing results."""
