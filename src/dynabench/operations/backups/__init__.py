"""Backups of a whole platform: its database, its files and its keys in one file that can be restored elsewhere."""
