"""A conversation as a sequence of events: what was said, done and returned, in any format."""
