"""Plain functions over text that content kinds, compressors and memory share: no protocol, no state."""
