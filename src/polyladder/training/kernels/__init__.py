"""Polynomial kernels, whose regressions are ladders: the relevance of inputs, directions, and their solves."""
