"""Kinds of candidates, one file each: what they predict of rows left out, and what they add to the sum that is kept."""
