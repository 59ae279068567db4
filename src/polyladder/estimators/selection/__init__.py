"""Choosing and stacking ladders by what they predict of rows that they did not see."""
