"""Closed forms over `LadderPolynomial`: one file, one quantity."""
