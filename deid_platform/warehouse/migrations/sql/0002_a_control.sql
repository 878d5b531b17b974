-- Releases that can be rolled back and expire, findings of analysts, projects and the access log.

-- Of functions whose parameters or results changed; code/ makes them anew.
DROP FUNCTION IF EXISTS ctl.begin_staging, ctl.finish_staging, ctl.staged_counts, ctl.bury, ctl.hide, ctl.promote;
-- Its condition on other versions' status goes; code/ makes it anew.
DROP VIEW IF EXISTS research.notes;

ALTER TABLE ctl.release
    ADD COLUMN detector       text NOT NULL DEFAULT '', -- names, for people; the digests are what counts
    ADD COLUMN policy         text NOT NULL DEFAULT '',
    ADD COLUMN deactivated_at timestamptz,
    -- Someone took it away from analysts: only someone can give it back, no refresh does.
    ADD COLUMN withheld_at    timestamptz,
    ADD COLUMN expired_at     timestamptz,
    ADD CHECK (NOT active OR (withheld_at IS NULL AND expired_at IS NULL));

ALTER TABLE ctl.delivery ADD COLUMN rejoined integer NOT NULL DEFAULT 0 CHECK (rejoined >= 0);
UPDATE ctl.delivery SET withdrawn = withdrawn + withdrawn_patients;
ALTER TABLE ctl.delivery DROP COLUMN withdrawn_patients;

-- Tombstones hold in every release (0002_b_research.sql), so a publication is what was promoted and nothing else.
DELETE FROM ctl.publication WHERE state = 'hidden';
ALTER TABLE ctl.publication DROP COLUMN state;

-- A leak that a reader reported: where it stands in a redacted text, what kind it is, how far it reached. Never the
-- string itself: that lies in the note store.
CREATE TABLE ctl.finding (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor      text NOT NULL DEFAULT session_user,
    who        text NOT NULL,
    label      text NOT NULL,
    release    text NOT NULL,
    feed       text NOT NULL,
    note_key   text NOT NULL,
    span_start integer NOT NULL CHECK (span_start >= 0),
    span_end   integer NOT NULL CHECK (span_end > span_start),
    releases   integer NOT NULL, -- in how many releases the string stands
    matches    integer NOT NULL, -- in how many other notes
    everywhere boolean NOT NULL, -- whether it is an identifier wherever it stands, or too common for that
    hidden     integer NOT NULL  -- how many notes are hidden for it
);

-- The newest finding that whoever measured knew of.
ALTER TABLE ctl.gate ADD COLUMN known bigint NOT NULL DEFAULT 0;

-- Who may read what: the sites and note types that a project was granted, for the logins that belong to it.
ALTER TABLE ctl.ledger ADD COLUMN who text, ADD COLUMN reason text;

CREATE TABLE ctl.project (
    project text PRIMARY KEY CHECK (project ~ '^[a-z][a-z0-9_-]{0,39}$'),
    purpose text NOT NULL,
    until   date, -- its last day; NULL: no end
    at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE ctl.project_grant (
    project   text NOT NULL REFERENCES ctl.project ON DELETE CASCADE,
    site      text, -- NULL: every site
    note_type text, -- NULL: every type
    UNIQUE NULLS NOT DISTINCT (project, site, note_type)
);
CREATE TABLE ctl.project_member (
    project text NOT NULL REFERENCES ctl.project ON DELETE CASCADE,
    login   text NOT NULL,
    PRIMARY KEY (project, login)
);

-- Which login read which view, and when. Numbers come from a sequence, which no rollback takes back: a gap is a read
-- whose transaction was rolled back.
CREATE TABLE ctl.access_log (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    login       text NOT NULL,
    relation    text NOT NULL,
    release     text,
    projects    text[] NOT NULL,
    application text,
    client      inet
);
CREATE INDEX access_log_by_login ON ctl.access_log (login, at);
