"""Files that become datasets: their columns told apart, their rows checked by the task, and stored."""
