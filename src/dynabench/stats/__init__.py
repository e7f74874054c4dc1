"""Statistics as pure functions over counts and arrays; no database, no task, no clock."""
