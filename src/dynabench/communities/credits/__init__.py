"""Thanks in releases: each person chooses how a release names them, and captains whether it names the team."""
