"""Tables that are too large for dictionaries of Python.

    hashed_table   very many short strings in memory
    spooled_table  values by strings, in a file without a name
    topics_file    patients of the topics, in a file that all processes of a machine share

Belongs here: how they lie in memory and in files. Does not belong here: what they hold.
"""
