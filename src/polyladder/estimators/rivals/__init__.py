"""The ladder's rivals behind scikit-learn's interface."""
