"""Badges: their definitions, the fold that awards them, and the page that explains them."""
