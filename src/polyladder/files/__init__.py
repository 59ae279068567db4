"""Files on disk: replaced whole or not at all, and only a command's own; unpacked with care."""
