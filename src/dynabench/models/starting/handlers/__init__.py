"""First handlers, copied into new folders as `handler.py`; they need nothing but Python."""
