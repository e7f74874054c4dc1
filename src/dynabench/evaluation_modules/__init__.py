"""Published modules on the platform: read from the hub's repositories, computed in the sandbox for visitors."""
