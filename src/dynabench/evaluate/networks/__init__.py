"""Models of transformers behind metrics: loading, batches, likelihoods, embeddings."""
