"""What is worth keeping: pieces of texts, the things in them, and their order of value."""
