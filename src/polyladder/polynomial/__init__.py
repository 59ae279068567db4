"""The exact polynomial at the center of the library: training makes one, analyses read one."""
