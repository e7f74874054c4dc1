"""People in their tasks: roles, bans, and the one place that decides what a person may do."""
