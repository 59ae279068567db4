"""The paper itself: its equations and where they are implemented, its tables and figures and how to run them."""
