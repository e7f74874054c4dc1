"""The lowest level: plumbing that every subject uses and that knows none of them."""
