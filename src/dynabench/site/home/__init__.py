"""The first page, and the indexes of tasks and leaderboards."""
