"""Programs that models wrote: running them confined, and how many pass."""
