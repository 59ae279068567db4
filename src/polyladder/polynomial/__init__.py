"""The exact polynomial in the middle of the house: everything left of it makes one, everything right of it reads one."""
