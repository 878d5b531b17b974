-- Limited data sets (45 CFR 164.514(e)): protected health information still, for those who signed for it.

-- Of functions whose parameters changed; code/ makes them anew.
DROP FUNCTION IF EXISTS ctl.begin_staging;

ALTER TABLE ctl.release ADD COLUMN limited boolean NOT NULL DEFAULT false;

CREATE SCHEMA limited;
