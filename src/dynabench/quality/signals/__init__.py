"""Signals about examples and their authors: shown to moderators with error rates, without any consequence by themselves."""
