"""English rules: a table of recognizers for each subject, and beside it the validators that its entries name.

    people, messages, unlisted_persons      names: in prose, in headers and forms, on no list
    ages, professions, employers            what is said of a person: ages over 89, occupations, places of work
    dates, mistyped_dates, holidays         days and months, those with a typing error, holidays
    addresses, zip_codes                    towns, states and streets; a state with a ZIP code
    organizations, landmarks, prose_places  institutions, parks and roads, places in running text
    contacts                                telephone numbers, network addresses, links
    identifiers, record_context             check digits and labelled numbers; what stands around a record number

Does not belong here: how tables are run (`rules/engine/`), or what notes of all languages write alike (`rules/shared/`,
`rules/spelled/`).
"""
