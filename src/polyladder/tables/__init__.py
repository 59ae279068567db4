"""Rows come in: table files, columns and what they mean, sparse rows, rows in parts."""
