"""What boards say, and who may keep one. Knows no web framework."""
