"""The fixtures of a small feed."""

from small_feed import deliver, redacted, run, shifting, site, take_in, through

__all__ = ["deliver", "redacted", "run", "shifting", "site", "take_in", "through"]
