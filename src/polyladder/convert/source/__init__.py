"""Exported models as source text, one language per file."""
