"""What the command line, the pages and the API share: reading what people paste, showing results."""
