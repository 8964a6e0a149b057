"""What people make while they use the page and want to keep, in a database of its own outside the index."""
