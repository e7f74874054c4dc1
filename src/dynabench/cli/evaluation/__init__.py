"""The implementation of `dynabench evaluate`, one file for each sub-command."""
