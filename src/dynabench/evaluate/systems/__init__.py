"""Comparisons of two systems: resampling and swapping their rows together."""
