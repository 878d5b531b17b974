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
