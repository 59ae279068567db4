"""Inference on encrypted rows."""
