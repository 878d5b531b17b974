"""Word lists, one list a fact, and what they say of a word.

    lists                   word lists of `data/`, read once
    alternatives            a list as one expression
    classes                 what kind of word a word is
    nicknames, month_names  what somebody of a given name is called; months and days in the languages of notes
    abbreviations           what two or three letters stand for in a clinic
    vocabularies/           clinical vocabularies from outside
    notice                  makes NOTICE of the lists' headers

Belongs here: lists, how they are read, and what follows from a word alone. Does not belong here: where a word stands in
a note, or whether it is an identifier there (`detection/`).
"""
