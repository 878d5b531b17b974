"""The page docs/policies.md.

    page      every policy, its legal basis, its actions and an example
    compared  policies side by side, and which to choose

Belongs here: how policies are shown to people. Does not belong here: policies (`redaction/`): what is in that package
names a policy, so that a change of it makes a new release.
"""
