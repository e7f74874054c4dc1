"""Models evaluated on datasets: durable jobs, their shards, the scores, and signed records of them."""
