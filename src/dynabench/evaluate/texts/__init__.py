"""What metrics of texts share: tokens, n-grams, edits, answers."""
