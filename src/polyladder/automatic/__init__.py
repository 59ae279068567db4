"""From a table to a tested model without a decision of the user's: choose, compare, fit, describe."""
