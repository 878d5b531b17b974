-- Withdrawals are staged beside the notes, no longer among them. Whatever is staged now is staged again before the
-- gate looks at it.

TRUNCATE staging.note;
DROP TABLE staging.withdrawn_patient;
CREATE UNLOGGED TABLE staging.withdrawal (
    delivery     text NOT NULL,
    feed         text NOT NULL,
    delivery_seq bigint NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('note', 'patient', 'rejoined')),
    key          text COLLATE "C" NOT NULL,
    former_keys  text[] NOT NULL, -- its keys under former secrets, for releases that were made with those
    PRIMARY KEY (delivery, kind, key)
);
ALTER TABLE staging.note
    ADD COLUMN former_keys text[] NOT NULL, -- likewise
    DROP CONSTRAINT note_status_check,
    ADD CONSTRAINT note_status_check CHECK (status IN ('clean', 'quarantined'));
