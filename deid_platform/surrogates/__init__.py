"""Surrogates: who stands in for whom, and which day for which.

    written_names, persons, identity    people: a name taken apart, whose it may be, and whose it is
    pools, orders                       pools of names, and their secret order
    names, household_names, site_names  which name stands in: of a pool, for a patient's people, for a site's providers
    household, consistency              what a patient's notes share, and how long a person keeps a surrogate
    people                              surrogates of people, written into a text
    numbers, places, institutions       surrogates of everything else but days
    date_order, date_shapes             how a note writes a date
    dates, written_dates                by how much a patient's days are moved, and a date moved in a text
    keyed                               what stands in for each identifier of a note
    dice, locales/                      for corpora: a seeded chance, and people, places and numbers of eleven countries

Belongs here: keyed, stateless surrogates. Does not belong here: a table from surrogates back to people;
there is none. What a policy asks for is `redaction/`.

For corpora, not for notes that are redacted: `locales/` has people, places and numbers of eleven countries, drawn by
`dice`, a seeded chance, rather than by a secret.
"""
