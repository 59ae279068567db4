"""Block solves of rows in parts: a sum over rows is a sum over parts."""
