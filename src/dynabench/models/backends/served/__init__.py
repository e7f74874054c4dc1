"""Models that others serve: one file a protocol."""
