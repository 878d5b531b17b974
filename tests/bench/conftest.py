"""The fixtures of a small feed."""

from small_feed import deliver, redacted, run, site, take_in, through

__all__ = ["deliver", "redacted", "run", "site", "take_in", "through"]
