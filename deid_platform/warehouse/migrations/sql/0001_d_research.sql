-- What research holds: every version that passed the gate, the tombstones, and the analysts' view of it.

CREATE TABLE research.note_version (
    release           text NOT NULL, -- ctl.delivery vouches for it; a foreign key would be checked row by row
    feed              text NOT NULL,
    note_key          text COLLATE "C" NOT NULL,
    delivery_seq      bigint NOT NULL,
    delivery          text NOT NULL,
    patient_key       text,
    provider_key      text,
    encounter_key     text,
    site              text,
    note_type         text,
    note_year         integer,
    shifted_date      date,
    language          text,
    text              text,
    status            text NOT NULL CHECK (status IN ('approved', 'quarantined', 'withdrawn')),
    detector_digest   text NOT NULL,
    dictionary_digest text NOT NULL,
    policy_digest     text NOT NULL,
    key_id            text NOT NULL,
    run_id            text NOT NULL,
    content_digest    text NOT NULL,
    promoted_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- delivery_seq orders the deliveries of one feed, so a feed is part of what a version is.
    PRIMARY KEY (release, feed, note_key, delivery_seq),
    CHECK ((text IS NOT NULL) = (status = 'approved'))
);
-- pglz, the default, made promotion twice as slow (100,000 notes of 4 kB). lz4 is not in every build; the
-- embedded server has neither it nor a reason to save space.
DO $$
BEGIN
    ALTER TABLE research.note_version ALTER COLUMN text SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
    ALTER TABLE research.note_version ALTER COLUMN text SET STORAGE EXTERNAL;
END $$;
CREATE INDEX note_version_by_note ON research.note_version (note_key, feed);

-- A withdrawn patient stays withdrawn, whatever is delivered later and in whichever release.
CREATE TABLE research.withdrawn_patient (
    patient_key text COLLATE "C" PRIMARY KEY,
    delivery    text NOT NULL,
    at          timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The current approved version of each note of the active release. Hidden: a version with a newer one in its
-- release, or one that a newer delivery quarantined or withdrew in any release (a withdrawal that arrives
-- while the next release is being built takes effect in the one that analysts read).
CREATE VIEW research.notes WITH (security_barrier) AS
SELECT v.note_key, v.patient_key, v.provider_key, v.encounter_key, v.site, v.note_type, v.note_year,
       v.shifted_date, v.language, v.text, v.release
FROM research.note_version v
JOIN ctl.release r ON r.release = v.release AND r.active
WHERE v.status = 'approved'
  AND NOT EXISTS (
      SELECT 1 FROM research.note_version o
      WHERE o.note_key = v.note_key AND o.feed = v.feed
        AND ((o.delivery_seq > v.delivery_seq AND (o.release = v.release OR o.status <> 'approved'))
             OR (o.delivery_seq = v.delivery_seq AND o.status = 'withdrawn')))
  AND NOT EXISTS (SELECT 1 FROM research.withdrawn_patient w WHERE w.patient_key = v.patient_key);

COMMENT ON VIEW research.notes IS
    'De-identified notes: the current approved version of each note of the active release.';
COMMENT ON COLUMN research.notes.note_key IS 'Keyed identifier of the note.';
COMMENT ON COLUMN research.notes.patient_key IS 'Keyed identifier of the patient; the same for all notes of one.';
COMMENT ON COLUMN research.notes.note_year IS 'Year of the note, where the policy allows it.';
COMMENT ON COLUMN research.notes.shifted_date IS 'Date of the note, moved by the patient''s own offset.';
COMMENT ON COLUMN research.notes.text IS 'The redacted text.';
