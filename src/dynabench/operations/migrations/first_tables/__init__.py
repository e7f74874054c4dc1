"""The tables that the first migration creates, by subject."""
