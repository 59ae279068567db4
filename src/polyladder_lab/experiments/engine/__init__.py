"""From a declaration to measured rows and their comparison: declare, plan, run, store, compare."""
