-- A row of the access log counts the reads of a view in one session and minute: a loop makes no million of them.
ALTER TABLE ctl.access_log
    ADD COLUMN reads   integer NOT NULL DEFAULT 1 CHECK (reads > 0),
    ADD COLUMN last_at timestamptz, -- of the last of several reads
    ADD COLUMN session integer; -- the server's process
