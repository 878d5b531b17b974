-- With whom each patient's dates are moved in a release, by keyed digest: the topics may name a newborn's mother only after
-- its first notes passed, and notes of two shifts must not be shown side by side.

ALTER TABLE staging.note ADD COLUMN shift_key text;
ALTER TABLE research.note_version ADD COLUMN shift_key text;

CREATE TABLE research.shift (
    release     text NOT NULL,
    patient_key text COLLATE "C" NOT NULL,
    shift_key   text NOT NULL,
    PRIMARY KEY (release, patient_key)
);
