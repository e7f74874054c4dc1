"""Reading files of examples, contexts and seeds: ours, and those of others."""
