"""A whole task as one file: written, checked, and made into a task again under another name."""
