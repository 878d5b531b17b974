-- What a run offers to the gate. Nothing here is visible to an analyst.
-- Unlogged: a crash empties it, the gate then refuses, and the run stages again; that halves what a COPY writes.

CREATE UNLOGGED TABLE staging.note (
    delivery          text NOT NULL,
    feed              text NOT NULL,
    delivery_seq      bigint NOT NULL,
    note_key          text COLLATE "C" NOT NULL,
    patient_key       text,
    provider_key      text,
    encounter_key     text,
    site              text,
    note_type         text,
    note_year         integer,
    shifted_date      date,
    language          text,
    text              text,
    status            text NOT NULL CHECK (status IN ('clean', 'quarantined', 'withdrawn')),
    detector_digest   text NOT NULL,
    dictionary_digest text NOT NULL,
    policy_digest     text NOT NULL,
    key_id            text NOT NULL,
    run_id            text NOT NULL,
    release           text NOT NULL,
    content_digest    text NOT NULL,
    PRIMARY KEY (delivery, note_key),
    -- A note that is held back has no text here, so that it cannot be published by mistake.
    CHECK ((text IS NOT NULL) = (status = 'clean'))
);
-- Staged rows stay until their delivery is staged again, but their text is read only around the gate: compressing
-- it costs more than the space is worth.
ALTER TABLE staging.note ALTER COLUMN text SET STORAGE EXTERNAL;

CREATE UNLOGGED TABLE staging.withdrawn_patient (
    delivery     text NOT NULL,
    feed         text NOT NULL,
    delivery_seq bigint NOT NULL,
    patient_key  text COLLATE "C" NOT NULL,
    PRIMARY KEY (delivery, patient_key)
);
