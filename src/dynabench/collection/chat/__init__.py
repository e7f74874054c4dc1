"""Conversations with a round's models: turns, replies as they are written, and which one people chose."""
