"""Rows come in: table files, columns and what they mean, features, sparse rows."""
