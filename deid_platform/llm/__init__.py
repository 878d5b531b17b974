"""Language models that are asked: the interface, models behind an endpoint, prompts, and what answers say of a note.

Belongs here: asking a chat model, keeping its answers, prompts as data, and reading an answer as stretches of the text
that was asked about. Does not belong here: detectors that make candidates of them (`detection/chat/`), or what a
judge's answer is worth.
"""
