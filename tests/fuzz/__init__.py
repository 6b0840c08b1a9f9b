"""Random conversations, well formed and not, against an independent reading of what vendors
take.
"""
