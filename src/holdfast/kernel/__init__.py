"""Pure types and protocols, and the two mechanisms: edits and flows. Standard library only."""
