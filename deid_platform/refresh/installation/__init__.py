"""One installation as its deid.toml describes it.

    site      feeds, store, keys, detector, policy
    lock      one refresh at a time
    reported  strings that readers reported as leaked
    rotation  what a change of the key secret does not separate

Does not belong here: reading the settings (`settings/`).
"""
