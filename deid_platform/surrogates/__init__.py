"""Surrogates: who stands in for whom, and which day for which.

Belongs here: keyed, stateless stand-ins. Does not belong here: a table from stand-ins back to people;
there is none. What a policy asks for is `redaction/`.
"""
