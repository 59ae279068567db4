"""Rows come in: named data sets, tables and features."""
