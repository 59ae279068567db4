"""To and from rivals: formulas, factorization machines, polynomial kernels."""
