"""The five published designs, run as they describe themselves."""
