"""The laws, held against generated conversations; every example is made from a seed and can be
run again alone.
"""
