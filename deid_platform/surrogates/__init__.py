"""Surrogates: who stands in for whom, and which day for which.

Belongs here: keyed, stateless surrogates. Does not belong here: a table from surrogates back to people;
there is none. What a policy asks for is `redaction/`.

People, in reading order: `written_names` takes a name apart, `persons` and `identity` say whose it is, `names` has the
pools in their secret order (`orders`), `household_names` and `site_names` draw, `household` is a patient's scope, and
`surrogate` brings it all together. `numbers`, `places` and `institutions` are the rest, `dates` and `written_dates` the
days.

For corpora, not for notes that are redacted: `locales/` has people, places and numbers of eleven countries, drawn by
`dice`, a seeded chance, rather than by a secret.
"""
