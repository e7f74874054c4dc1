"""The demo's history: written texts, simulated people, and the shipped services and models that make rounds of them."""
