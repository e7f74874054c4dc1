"""The cycle: a round closes and is released, models learn from it, the best of them is the next round's target."""
