-- What each relation that readers see holds, column by column: `\d+` shows it, and
-- docs/data-dictionary.md is made from it.
-- Behind "Policy: " stands what becomes of the source's value on its way there.

COMMENT ON VIEW research.notes IS
    'De-identified notes: the current version of each note of the active release, as far as your projects reach.';
COMMENT ON COLUMN research.notes.note_key IS
    'The note: the same in all releases made with one key secret. Policy: keyed hash of the source''s note id.';
COMMENT ON COLUMN research.notes.patient_key IS
    'The patient: the same in all notes of one; NULL where the source names none.'
    ' Policy: keyed hash of the source''s patient id.';
COMMENT ON COLUMN research.notes.provider_key IS
    'The author or signer, as far as the source names one. Policy: keyed hash of the source''s provider id.';
COMMENT ON COLUMN research.notes.encounter_key IS
    'The visit or stay, as far as the source names one. Policy: keyed hash of the source''s encounter id.';
COMMENT ON COLUMN research.notes.site IS
    'The institution or clinic that delivered the note. Policy: kept: the name of deid.toml.';
COMMENT ON COLUMN research.notes.note_type IS
    'Kind of note as the source calls it. Policy: kept if deid.toml lists it, else other.';
COMMENT ON COLUMN research.notes.note_year IS
    'Year of the note; NULL where the source or the policy gives none.'
    ' Policy: year alone, where the policy keeps years.';
COMMENT ON COLUMN research.notes.shifted_date IS
    'Date of the note; NULL unless the policy shifts dates. Policy: moved by the patient''s own number of days.';
COMMENT ON COLUMN research.notes.language IS 'Language as the text tells it, such as en or it; und where it tells none and the source says none. Policy: made from text.';
COMMENT ON COLUMN research.notes.text IS
    'The redacted text. Policy: each identifier replaced as docs/policies.md says for its label.';
COMMENT ON COLUMN research.notes.release IS
    'The release that the row is of: detector, policy and key secret. Policy: made by the platform.';

COMMENT ON VIEW limited.notes IS
    'A limited data set: protected health information, for those who signed a data use agreement.';
COMMENT ON COLUMN limited.notes.note_key IS 'As in research.notes. Policy: keyed hash of the source''s note id.';
COMMENT ON COLUMN limited.notes.patient_key IS 'As in research.notes. Policy: keyed hash of the source''s patient id.';
COMMENT ON COLUMN limited.notes.provider_key IS
    'As in research.notes. Policy: keyed hash of the source''s provider id.';
COMMENT ON COLUMN limited.notes.encounter_key IS
    'As in research.notes. Policy: keyed hash of the source''s encounter id.';
COMMENT ON COLUMN limited.notes.site IS 'As in research.notes. Policy: kept: the name of deid.toml.';
COMMENT ON COLUMN limited.notes.note_type IS 'As in research.notes. Policy: kept if deid.toml lists it, else other.';
COMMENT ON COLUMN limited.notes.note_date IS
    'Date of the note; NULL where the policy keeps no day.'
    ' Policy: as it is, or shifted with the patient where the policy shifts dates.';
COMMENT ON COLUMN limited.notes.language IS 'As in research.notes. Policy: kept.';
COMMENT ON COLUMN limited.notes.text IS
    'The redacted text: dates, towns and ages are those of the note where the policy keeps them.'
    ' Policy: each identifier replaced as docs/policies.md says for its label.';
COMMENT ON COLUMN limited.notes.release IS 'As in research.notes. Policy: made by the platform.';

COMMENT ON VIEW omop.note IS
    'OMOP CDM 5.4 NOTE over research.notes; notes without a patient or any date are left out.';
COMMENT ON COLUMN omop.note.note_id IS 'Number of the note. Policy: drawn by hash, kept with note_key.';
COMMENT ON COLUMN omop.note.person_id IS 'Number of the patient. Policy: drawn by hash, kept with patient_key.';
COMMENT ON COLUMN omop.note.note_date IS
    'shifted_date, or the first of January of note_year. Policy: as for those columns.';
COMMENT ON COLUMN omop.note.note_datetime IS 'shifted_date at midnight; NULL where it is. Policy: as for shifted_date.';
COMMENT ON COLUMN omop.note.note_type_concept_id IS '32817, EHR. Policy: constant.';
COMMENT ON COLUMN omop.note.note_class_concept_id IS
    '0, no matching concept: a site''s note types are its own. Policy: constant.';
COMMENT ON COLUMN omop.note.note_title IS 'note_type, its first 250 characters. Policy: as for note_type.';
COMMENT ON COLUMN omop.note.note_text IS 'The redacted text. Policy: as for text.';
COMMENT ON COLUMN omop.note.encoding_concept_id IS '32678, UTF-8. Policy: constant.';
COMMENT ON COLUMN omop.note.language_concept_id IS '4180186 for English, else 0. Policy: made from language.';
COMMENT ON COLUMN omop.note.provider_id IS
    'Number of the author or signer. Policy: drawn by hash, kept with provider_key.';
COMMENT ON COLUMN omop.note.visit_occurrence_id IS
    'Number of the visit or stay. Policy: drawn by hash, kept with encounter_key.';
COMMENT ON COLUMN omop.note.visit_detail_id IS 'NULL. Policy: constant.';
COMMENT ON COLUMN omop.note.note_source_value IS 'note_key. Policy: as for note_key.';
COMMENT ON COLUMN omop.note.note_event_id IS 'NULL. Policy: constant.';
COMMENT ON COLUMN omop.note.note_event_field_concept_id IS 'NULL. Policy: constant.';

COMMENT ON VIEW quality.scores IS
    'The newest scores of each detector that a release was made with, on gold that no detector made.';
COMMENT ON COLUMN quality.scores.detector_digest IS
    'Digest of the detector that was measured. Policy: made by the platform.';
COMMENT ON COLUMN quality.scores.gold IS
    'What it was measured on: site (the institution''s own gold), library (whole notes of many authors, none of them the'
    ' institution''s) or synthetic_hospital. Policy: made by the platform.';
COMMENT ON COLUMN quality.scores.inputs IS
    'What the detector was given: text (the notes alone) or topics (patients, providers, facilities too).'
    ' Policy: made by the platform.';
COMMENT ON COLUMN quality.scores.label IS 'Kind of identifier, or ALL. Policy: made by the platform.';
COMMENT ON COLUMN quality.scores.measure IS
    'precision, recall and f1 of words; recall_conservative, of words hidden whole, by which the gate judges;'
    ' entity_recall; leak_rate, the share of notes'
    ' with a missed identifier; words_kept, the share of words that identify nobody which are left;'
    ' clinical_retention, the share of the clinical terms that gold lists.'
    ' Policy: made by the platform.';
COMMENT ON COLUMN quality.scores.value IS 'From 0 to 1, four decimals; NULL under 11 cases. Policy: aggregate.';
COMMENT ON COLUMN quality.scores.low IS 'Lower end of the 95% bootstrap interval. Policy: aggregate.';
COMMENT ON COLUMN quality.scores.high IS 'Upper end of the 95% bootstrap interval. Policy: aggregate.';
COMMENT ON COLUMN quality.scores.n IS 'Number of cases; NULL under 11. Policy: aggregate.';
COMMENT ON COLUMN quality.scores.suppressed IS 'Whether there were fewer than 11 cases. Policy: made by the platform.';
COMMENT ON COLUMN quality.scores.at IS 'When it was measured. Policy: made by the platform.';
COMMENT ON COLUMN quality.scores.notes_of IS
    'On whose notes: site, demonstration, site_and_demonstration, library, synthetic_hospital, published, own_corpus,'
    ' pairs, or not_recorded. Policy: made by the platform.';
COMMENT ON COLUMN quality.scores.topics_of IS
    'With whose topics: the same words, or none. Policy: made by the platform.';
COMMENT ON COLUMN quality.scores.marked_by IS
    'By which hand: adjudicated, annotators, slots, authors, writer, written_in, readers, labellers,'
    ' several, unnamed, or not_recorded. docs/evaluation.md says what each means. Policy: made by the platform.';

COMMENT ON VIEW quality.lab_scores IS
    'The newest figures of the laboratory: detectors side by side, and what a release leaves of identifiers and medicine.';
COMMENT ON COLUMN quality.lab_scores.detector IS 'Which detector or judge. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.detector_digest IS 'Digest of the detector. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.policy_digest IS
    'Digest of the policy under which notes were released; empty where it makes no difference.'
    ' Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.gold IS
    'What it was measured on: as in quality.scores, a published corpus with identifiers written in, or own- and the name'
    ' of a corpus of deid.toml.'
    ' Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.locale IS
    'Locale of the identifiers written in; empty where the gold is in one. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.inputs IS 'As in quality.scores. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.family IS
    'Kind of measure, such as words, retention or linkage. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.subject IS
    'ALL, or the part that the figure is of: a label, a sex, a locale, a length, a risk, a category.'
    ' Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.measure IS 'What was measured. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.value IS 'The figure, four decimals; NULL under 11 cases. Policy: aggregate.';
COMMENT ON COLUMN quality.lab_scores.low IS 'Lower end of the 95% interval, if it has one. Policy: aggregate.';
COMMENT ON COLUMN quality.lab_scores.high IS 'Upper end of the 95% interval, if it has one. Policy: aggregate.';
COMMENT ON COLUMN quality.lab_scores.n IS
    'Number of cases; NULL under 11, and where the figure is no share. Policy: aggregate.';
COMMENT ON COLUMN quality.lab_scores.suppressed IS
    'Whether there were fewer than 11 cases. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.at IS 'When it was measured. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.judge IS
    'Digest of the language model that judged, which is the detector_digest of the figures that validate it; empty where'
    ' none did. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.notes_of IS 'As in quality.scores. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.topics_of IS 'As in quality.scores. Policy: made by the platform.';
COMMENT ON COLUMN quality.lab_scores.marked_by IS 'As in quality.scores. Policy: made by the platform.';

COMMENT ON VIEW quality.determination IS 'What the privacy officer concluded of the active release from its dossier.';
COMMENT ON COLUMN quality.determination.release IS 'The active release. Policy: made by the platform.';
COMMENT ON COLUMN quality.determination.conclusion IS
    'fit, fit-with-conditions or unfit; NULL if nobody has signed. Policy: written by the officer.';
COMMENT ON COLUMN quality.determination.dossier IS
    'Digest of the dossier that was signed. Policy: made by the platform.';
COMMENT ON COLUMN quality.determination.signed_on IS 'Day of the signature, in UTC. Policy: made by the platform.';
COMMENT ON COLUMN quality.determination.reassess_by IS
    'Last day on which the conclusion holds. Policy: written by the officer.';
COMMENT ON COLUMN quality.determination.standing IS
    'in force, lapsed, invalid (the signature) or not determined. Policy: made by the platform.';

COMMENT ON VIEW quality.held_out_sets IS
    'What detectors are measured on, sealed before, and how often it was looked at since looks are counted.';
COMMENT ON COLUMN quality.held_out_sets.held_out_set IS
    'Names the notes with their gold: other notes or other gold have another name. Policy: made by the platform.';
COMMENT ON COLUMN quality.held_out_sets.gold IS 'As in quality.lab_scores. Policy: made by the platform.';
COMMENT ON COLUMN quality.held_out_sets.locale IS 'As in quality.lab_scores. Policy: made by the platform.';
COMMENT ON COLUMN quality.held_out_sets.notes IS
    'Notes, rounded down to tens; NULL under 11. Policy: aggregate.';
COMMENT ON COLUMN quality.held_out_sets.seen_before IS
    'Of these, those whose text was in a set before, rounded down to tens; NULL under 11. Policy: aggregate.';
COMMENT ON COLUMN quality.held_out_sets.sealed_at IS 'When it was sealed. Policy: made by the platform.';
COMMENT ON COLUMN quality.held_out_sets.looks IS
    'How often figures were computed from its gold. Policy: made by the platform.';
COMMENT ON COLUMN quality.held_out_sets.detectors IS 'Of how many detectors. Policy: made by the platform.';
