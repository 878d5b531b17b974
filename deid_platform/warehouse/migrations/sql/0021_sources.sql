-- Whose notes a gold is of, whose topics, and by which hand it was marked, where its name says so. The owner fills it at
-- each migration from evaluation/sources.py.
CREATE TABLE quality.gold_source (
    gold      text PRIMARY KEY,
    notes_of  text NOT NULL,
    topics_of text NOT NULL,
    marked_by text NOT NULL
);

-- The same of a held-out set of a site's own notes, which the name of the gold does not say: that of deid.toml and of
-- rounds of people. The newest row counts. Closed lists, so that it is no place for text.
CREATE TABLE ctl.held_out_source (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    held_out_set text NOT NULL REFERENCES ctl.held_out_set,
    notes_of     text NOT NULL CHECK (notes_of IN ('site', 'demonstration', 'site_and_demonstration')),
    marked_by    text NOT NULL CHECK (
        marked_by IN ('adjudicated', 'annotators', 'slots', 'writer', 'readers', 'several', 'unnamed')),
    actor        text NOT NULL DEFAULT session_user,
    at           timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX held_out_source_of ON ctl.held_out_source (held_out_set, id);
