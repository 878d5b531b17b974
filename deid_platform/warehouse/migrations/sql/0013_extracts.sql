-- Extracts: what a project took out of a release as files.

-- What readers call to make an extract and to ask for its standing. They have nothing else in `ctl`.
CREATE SCHEMA extracts;

CREATE SEQUENCE ctl.extract_number;

CREATE TABLE ctl.extract (
    id              bigint PRIMARY KEY,
    project         text NOT NULL,
    login           text NOT NULL DEFAULT session_user,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    release         text NOT NULL REFERENCES ctl.release,
    relation        text NOT NULL,
    grants          jsonb NOT NULL, -- the project's when it was made: a list of site and note_type, null for every one
    notes           integer NOT NULL CHECK (notes >= 0),
    manifest_digest text NOT NULL UNIQUE CHECK (manifest_digest ~ '^[0-9a-f]{64}$')
);

-- Which versions it holds. They go in before the extract itself, whose manifest is written last.
CREATE TABLE ctl.extract_note (
    extract      bigint NOT NULL REFERENCES ctl.extract DEFERRABLE INITIALLY DEFERRED,
    note_key     text COLLATE "C" NOT NULL,
    feed         text NOT NULL,
    delivery_seq bigint NOT NULL,
    promoted_at  timestamptz NOT NULL,
    shown_digest bytea NOT NULL, -- ctl.shown_digest: a promotion that shows the same makes no extract stale
    PRIMARY KEY (extract, note_key, feed, delivery_seq)
);
CREATE INDEX extract_note_by_note ON ctl.extract_note (note_key);

-- Extracts whose owner says that every copy is destroyed.
CREATE TABLE ctl.extract_end (
    extract bigint PRIMARY KEY REFERENCES ctl.extract,
    who     text NOT NULL,
    reason  text NOT NULL,
    actor   text NOT NULL DEFAULT session_user,
    at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
