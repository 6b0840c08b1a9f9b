"""A conversation as one stream of events, in any protocol: what was said, done and returned."""
