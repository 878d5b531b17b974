"""From candidates to spans: propagated mentions, recovered clinical terms, relatives, and merged overlaps."""
