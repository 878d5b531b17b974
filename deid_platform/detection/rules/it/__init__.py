"""Italian rules: a table of recognizers for each subject, and beside it the validators that its entries name.

    words                            Italian words that validators ask about
    people, initials                 names of people, and their initials
    dates, addresses, organizations  days, towns and streets, institutions and firms
    identifiers                      telephone and record numbers

Does not belong here: how tables are run (`rules/engine/`), or what notes of all languages write alike (`rules/shared/`,
`rules/spelled/`).
"""
