-- A finding may be a whole note, which has no span.
ALTER TABLE ctl.finding ALTER COLUMN span_start DROP NOT NULL, ALTER COLUMN span_end DROP NOT NULL;

-- Of a function that writes a log by now; code/ makes it anew.
DROP FUNCTION IF EXISTS ctl.reported_since;
