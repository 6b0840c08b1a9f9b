"""Functions over text that several packages use; no protocols and no state."""
