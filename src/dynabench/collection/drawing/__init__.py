"""Pictures that a round's models draw of what people write: asked for, stored, chosen, sent in with an example."""
