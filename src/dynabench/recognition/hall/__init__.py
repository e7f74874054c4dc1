"""The hall of fame: people with public profiles, ranked by errors that other people verified."""
