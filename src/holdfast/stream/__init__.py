"""A conversation as a sequence of events (texts, acts, outputs), in any format."""
