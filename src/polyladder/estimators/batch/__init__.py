"""Many models as few programs: families, plans, fitting, grid search."""
