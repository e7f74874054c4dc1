"""Live counters and activity: what changes while a page is open, as server-sent events or as JSON."""
