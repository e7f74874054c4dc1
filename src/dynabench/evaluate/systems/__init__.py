"""What comparisons of two systems share: resampling and swapping them together."""
