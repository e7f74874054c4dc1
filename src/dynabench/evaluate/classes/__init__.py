"""What metrics of classes, tags, ratings and clusters share."""
