"""Clinical-text de-identification that proves itself on every refresh."""

__version__ = "0.1.0"
