"""A soak; `__main__.py` says what it is."""
