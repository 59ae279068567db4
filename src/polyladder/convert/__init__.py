"""To and from relatives: formulas, factorization machines, polynomial kernels."""
