-- People log in by logins of their own, and what one role says alone is shown to nobody.

-- Of functions whose results changed; code/ makes them anew.
DROP FUNCTION IF EXISTS ctl.set_opt_outs;

-- `analyst` is a group that nobody logs in as.
DELETE FROM ctl.project_member WHERE login = 'analyst';

-- The list of opted-out patients as the loader knows it, a row for each secret. A patient is shown again only if neither
-- this list nor the promoter's names them.
CREATE TABLE staging.opt_out_list (
    key_id text PRIMARY KEY,
    keys   text[] NOT NULL,
    at     timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Which versions of a note there are. Row security would hide a correction from a reader who may not read it, and so show
-- the version that it corrects; here it hides nothing.
CREATE TABLE research.version_key (
    note_key     text COLLATE "C" NOT NULL,
    feed         text NOT NULL,
    delivery_seq bigint NOT NULL,
    release      text NOT NULL,
    PRIMARY KEY (note_key, feed, delivery_seq, release)
);
INSERT INTO research.version_key SELECT note_key, feed, delivery_seq, release FROM research.note_version ORDER BY note_key;
