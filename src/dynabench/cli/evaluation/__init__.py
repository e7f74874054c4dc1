"""What `dynabench evaluate` does, one sub-command a file."""
