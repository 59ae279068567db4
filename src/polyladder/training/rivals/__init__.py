"""Factorization machines and polynomial kernels, solved exactly."""
