"""Exact block solves of ladders."""
