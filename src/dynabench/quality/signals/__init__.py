"""Signals about examples and their authors: shown to moderators with error rates, of no consequence by themselves."""
