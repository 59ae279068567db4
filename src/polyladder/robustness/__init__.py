"""Proven output ranges, exact attacks and global optima of ladders."""
