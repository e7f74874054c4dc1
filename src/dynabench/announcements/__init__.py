"""Announcements of owners to those who take part in a task."""
