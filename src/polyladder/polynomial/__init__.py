"""The exact polynomial in the middle of the house: rooms before it make one, rooms after it read one."""
