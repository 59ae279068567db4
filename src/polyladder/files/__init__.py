"""Files on disk: replaced whole or not at all, unpacked with care."""
