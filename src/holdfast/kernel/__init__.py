"""Pure types, protocols and the two mechanisms (edits, flows). Imports nothing else of ours, nor of others."""
