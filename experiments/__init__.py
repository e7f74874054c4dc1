"""Experiments on the platform's own code; no distribution contains them, and the platform does not import them."""
