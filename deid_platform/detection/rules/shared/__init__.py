"""What notes of all languages write alike: numbers of rooms and beds, user names; words for them in five languages.

    any_ages  ages at any value
    rooms     numbers of rooms and beds
    signers   user names and initials

Does not belong here: numbers in words (`rules/spelled/`).
"""
