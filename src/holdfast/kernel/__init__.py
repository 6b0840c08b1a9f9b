"""Types and protocols, and the mechanisms that apply edits and drive flows; standard library only."""
