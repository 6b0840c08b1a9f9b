"""Types, protocols, applying edits and driving flows; standard library only."""
