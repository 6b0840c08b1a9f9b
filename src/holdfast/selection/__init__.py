"""What is worth keeping: pieces of texts, the things they tell, and the order of their value."""
