"""The specification's cases, run against the library; any other file of such cases can be named."""
