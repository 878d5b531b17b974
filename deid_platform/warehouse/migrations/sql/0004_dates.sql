-- What class of dates a release shows. Keys of notes and patients follow from the secret alone: in two releases of one
-- secret the same note has the same key, so that a true date or year of the one would stand beside a shifted one.

-- Of functions whose parameters changed; code/ makes them anew.
DROP FUNCTION IF EXISTS ctl.begin_staging;

-- NULL of a release that was made before this was known, by a policy of the site's own: it is like no other.
ALTER TABLE ctl.release ADD COLUMN dates text CHECK (dates IN ('true', 'shift', 'year', 'none'));
UPDATE ctl.release SET dates = CASE
    WHEN limited OR policy IN ('limited_dataset', 'patient_only') THEN 'true'
    WHEN policy = 'surrogate' THEN 'shift'
    WHEN policy IN ('safe_harbor', 'safe_harbor_plus_providers') THEN 'year'
    WHEN policy = 'gdpr_it' THEN 'none' END;
