"""The paper itself: its equations and where they are implemented."""
