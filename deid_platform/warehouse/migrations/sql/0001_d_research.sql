-- What research holds: every version that passed the gate, and the tombstones.

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
