"""One search over everything that a visitor may read: the page, the JSON route, and the command palette's results."""
