"""What metrics of numbers, ranks and curves share."""
