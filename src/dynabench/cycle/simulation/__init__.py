"""Twenty rounds without people: adversaries choose from a pool whose answers are known, beside control arms."""
