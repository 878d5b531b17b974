-- Withdrawals, versions on hold and retractions each in a table of their own, so that they hold in every release and
-- note_version holds what passed the gate and nothing else.

CREATE SCHEMA omop;

-- What a delivery takes out of research or, for a patient who rejoined, lets back in.
CREATE TABLE research.withdrawal (
    kind         text NOT NULL CHECK (kind IN ('note', 'patient', 'rejoined')),
    key          text COLLATE "C" NOT NULL,
    feed         text NOT NULL,
    delivery_seq bigint NOT NULL,
    delivery     text NOT NULL,
    key_id       text, -- of the key that the delivery was staged with; NULL where the key is one under a former secret
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (kind, key, feed, delivery_seq)
);

-- A version that did not pass (yet): from it on, older ones are not shown. `quarantined`: a stage failed on it.
-- `correction`: it waits for the gate. `superseded`: the same, under the note's key of a former secret.
CREATE TABLE research.held (
    note_key     text COLLATE "C" NOT NULL,
    feed         text NOT NULL,
    release      text NOT NULL,
    delivery_seq bigint NOT NULL,
    delivery     text NOT NULL,
    reason       text NOT NULL CHECK (reason IN ('quarantined', 'correction', 'superseded')),
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (note_key, feed, release, delivery_seq)
);

-- Patients who take no part in research, the whole list as it is now.
CREATE TABLE research.opted_out (
    patient_key text COLLATE "C" PRIMARY KEY,
    key_id      text NOT NULL, -- of the secret that the key was made with
    at          timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A version in which something was found: hidden until its delivery has passed the gate anew, with another text.
CREATE TABLE research.retraction (
    note_key     text COLLATE "C" NOT NULL,
    feed         text NOT NULL,
    release      text NOT NULL,
    delivery_seq bigint NOT NULL,
    delivery     text NOT NULL,
    finding      bigint NOT NULL REFERENCES ctl.finding,
    text_digest  text NOT NULL, -- SHA-256 of the redacted text
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (note_key, feed, release, delivery_seq, finding)
);

INSERT INTO research.withdrawal (kind, key, feed, delivery_seq, delivery, key_id)
SELECT 'note', v.note_key, v.feed, v.delivery_seq, v.delivery, v.key_id
FROM research.note_version v WHERE v.status = 'withdrawn'
ON CONFLICT DO NOTHING;
INSERT INTO research.withdrawal (kind, key, feed, delivery_seq, delivery)
SELECT 'patient', w.patient_key, d.feed, d.delivery_seq, d.delivery
FROM research.withdrawn_patient w JOIN ctl.delivery d USING (delivery);
INSERT INTO research.held (note_key, feed, release, delivery_seq, delivery, reason)
SELECT v.note_key, v.feed, v.release, v.delivery_seq, v.delivery, 'quarantined'
FROM research.note_version v WHERE v.status = 'quarantined';
DELETE FROM research.note_version WHERE status <> 'approved';
DROP TABLE research.withdrawn_patient;
ALTER TABLE research.note_version DROP COLUMN status, ALTER COLUMN text SET NOT NULL;

-- Integers for tools that want them (OMOP): drawn by hash, since numbers in the order of arrival would tell when a
-- note came in.
CREATE TABLE research.number (
    kind   text NOT NULL CHECK (kind IN ('note', 'patient', 'provider', 'encounter')),
    key    text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    PRIMARY KEY (kind, key),
    UNIQUE (kind, number)
);
