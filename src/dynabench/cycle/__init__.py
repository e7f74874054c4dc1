"""The turn of the cycle: rounds that close, are released, train their successors, and open again."""
