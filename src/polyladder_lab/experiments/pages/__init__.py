"""A compared table as text, in the terminal, as Markdown and as one HTML page with figures."""
