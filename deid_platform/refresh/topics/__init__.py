"""Patients, staff and places of a feed as its deliveries have told them so far.

    as_of          the topics as of a delivery
    folding        patients of all deliveries in one file
    patient_rows   rows of a patient, compared with each other
    topic_columns  by which columns the topics of a feed are read
    known          whether the topics know a patient

Does not belong here: finding them in notes (`detection/topics`).
"""
