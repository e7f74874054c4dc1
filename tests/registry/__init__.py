"""The registry: who sees which models, talking to them."""
