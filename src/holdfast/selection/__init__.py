"""What is worth keeping: pieces of texts, the things that they tell, and the one order in which they are told."""
