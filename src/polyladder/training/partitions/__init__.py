"""Block solves of rows that lie in parts: a sum over rows is a sum over parts."""
