"""From candidates to spans: further mentions, clinical terms given back, relatives, one span where several overlap."""
