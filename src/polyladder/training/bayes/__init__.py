"""Posteriors of ladders: the same blocks drawn, or a bound without draws."""
