"""What each column of the note store means, for the column schemas of assets in the UI.

Belongs here: one phrase for each column name. Does not belong here: the columns themselves (`refresh/tables.py`), or
those of the warehouse, which have their comments in the database.
"""

MEANINGS = {
    # Notes
    "note_id": "the source's own id of the note; an identifier",
    "text": "as the source wrote it; never leaves the PHI zone",
    "patient_id": "the source's own id of the patient; an identifier",
    "encounter_id": "the source's own id of the visit or stay; an identifier",
    "provider_id": "the source's own id of the author or signer; an identifier",
    "site": "the institution or clinic that delivered the note",
    "note_type": "kind of note as the source calls it",
    "note_date": "date of the note as the source gives it; an identifier",
    "language": "language as the source gives it, such as en",
    "content_digest": "keyed digest of the note, by which a change is detected",
    # Topics
    "first_name": "given name",
    "middle_name": "middle name",
    "last_name": "family name",
    "birth_date": "date of birth",
    "sex": "sex as the source gives it",
    "mrn": "medical record number",
    "ssn": "social security number",
    "phone": "telephone number",
    "email": "e-mail address",
    "street": "street and house number",
    "city": "town",
    "state": "state",
    "zip": "ZIP code",
    "relatives": "names of relatives and contacts, separated by ;",
    "mother_id": "patient_id of the mother, where she is a patient too",
    "undated": "whether the row's date of birth could not be read",
    "title": "title, such as MD",
    "npi": "national provider identifier",
    "user_id": "login name of staff",
    "facility_id": "the source's own id of the clinic",
    "name": "name of the clinic",
    "abbreviation": "short name of the clinic",
    # Dictionaries
    "term": "a word, phrase or number",
    "kind": "what kind of term it is",
    "phrase": "a proposal, never used before a person accepts it",
    "label": "the label under which its words are hidden most often",
    "patients": "minimum number of patients in whose notes it stands",
    "notes": "number of notes in which it stands",
    # Redacted notes
    "note_year": "year of the note, where the policy keeps years",
    "shifted_date": "date of the note shifted with the patient, where the policy shifts dates",
    "shift_key": "keyed hash of whose date shift it is, where the policy shifts dates",
    "status": "clean or quarantined",
    "reason": "why a note is quarantined",
    "spans": "what was found: start, end, label and source",
    "lengths": "length of each span's replacement, in characters",
    "words": "number of words of the note",
    "with_roster": "whether the note's patient is in the topics",
    "cache_key": "digest of all that the row was made with; a row with the same key is reused",
    # Bench
    "feed": "feed of the note",
    "delivery": "delivery of the note",
    "gold": "true spans, planted or annotated, never detected",
    "ways": "the way of writing of each true span, empty where a slot was filled",
    "part": "training or test: the two share no name, way of writing or carrier",
    "clinical": "start and end of the clinical terms that must stay visible",
    "inputs": "what the detector was given: topics, or text alone",
    "first": "what the first pass found in the note, without the patient's other notes",
}
