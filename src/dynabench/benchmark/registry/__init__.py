"""The registry: which models there are, how they do, who may see them; talking to one, comparing two."""
