"""What was said, done and returned: a conversation as one stream of events, whatever protocol it used."""
