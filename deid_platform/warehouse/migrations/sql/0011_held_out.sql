-- Held-out sets, and every look at one.

ALTER TABLE quality.word DROP CONSTRAINT word_kind_check;
ALTER TABLE quality.word ADD CONSTRAINT word_kind_check
    CHECK (kind IN ('family', 'subject', 'measure', 'gold', 'detector', 'purpose'));

-- What detectors are measured on: notes with gold, known by a keyed digest of both. Nothing can be read from it.
CREATE TABLE ctl.held_out_set (
    digest           text PRIMARY KEY CHECK (digest ~ '^[0-9a-f]{32}$'),
    -- What people call it. The gatekeeper writes the digest, and analysts read no text that one role wrote.
    name             text NOT NULL UNIQUE GENERATED ALWAYS AS (left(encode(sha256(decode(digest, 'hex')), 'hex'), 12)) STORED,
    gold             text NOT NULL,
    locale           text NOT NULL DEFAULT '',
    notes            integer NOT NULL CHECK (notes > 0),
    patients         integer NOT NULL CHECK (patients BETWEEN 0 AND notes),
    strata           integer NOT NULL CHECK (strata BETWEEN 1 AND notes), -- by type of note and period
    smallest_stratum integer NOT NULL CHECK (smallest_stratum BETWEEN 1 AND notes),
    spans            jsonb NOT NULL CHECK (jsonb_typeof(spans) = 'object'), -- label -> spans of the gold
    seen             integer NOT NULL CHECK (seen BETWEEN 0 AND notes), -- texts that were in a set before
    actor            text NOT NULL DEFAULT session_user,
    at               timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The notes of a set, each by a keyed digest of its words: who changes gold, ids or a few notes makes another set, and
-- here it is seen that its notes are the same.
CREATE TABLE ctl.held_out_note (
    note         text NOT NULL CHECK (note ~ '^[0-9a-f]{16}$'),
    held_out_set text NOT NULL REFERENCES ctl.held_out_set,
    PRIMARY KEY (note, held_out_set)
);
CREATE INDEX held_out_note_of ON ctl.held_out_note (held_out_set);

-- Each time that figures of a detector were computed from the gold of a set.
CREATE TABLE ctl.look (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    held_out_set    text NOT NULL REFERENCES ctl.held_out_set,
    detector_digest text NOT NULL CHECK (detector_digest ~ '^[0-9a-f]{16,64}$'),
    purpose         text NOT NULL,
    actor           text NOT NULL DEFAULT session_user,
    at              timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX look_with ON ctl.look (detector_digest, id);
CREATE INDEX look_at ON ctl.look (held_out_set, id);

-- Of which look a figure is: NULL in rows of before. One look yields each figure once.
ALTER TABLE quality.score ADD COLUMN look bigint REFERENCES ctl.look;
ALTER TABLE quality.lab_score ADD COLUMN look bigint REFERENCES ctl.look;
CREATE UNIQUE INDEX score_of_look ON quality.score (look, inputs, label, measure);
CREATE UNIQUE INDEX lab_score_of_look
    ON quality.lab_score (look, detector, policy_digest, inputs, family, subject, measure);
