"""Models on a Ray cluster: served by Ray Serve, and asked about many inputs by Ray Core."""
