-- Drops the planner's statistics of what stands behind views, and writes the notes anew in the order of their keys.

-- A column's statistics go when its type is set, to the same one too, which rewrites nothing. No view and no policy may
-- use the column meanwhile; code/ makes them anew.
DROP POLICY IF EXISTS by_project ON research.note_version;
DROP VIEW IF EXISTS omop.note, research.notes, limited.notes, research.current_version, research.absent_patient,
    ctl.granted, quality.scores;
DO $$
DECLARE
    v_column record;
BEGIN
    FOR v_column IN
        SELECT a.attrelid::regclass AS relation, a.attname, format_type(a.atttypid, a.atttypmod) AS type,
               CASE WHEN a.attcollation <> t.typcollation THEN 'COLLATE ' || a.attcollation::regcollation ELSE '' END AS collation
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
        WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
          AND (c.relnamespace IN ('research'::regnamespace, 'quality'::regnamespace)
               OR a.attrelid IN ('ctl.release'::regclass, 'ctl.project'::regclass, 'ctl.project_grant'::regclass,
                                 'ctl.project_member'::regclass))
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE %s %s',
                       v_column.relation, v_column.attname, v_column.type, v_column.collation);
    END LOOP;
END $$;

CLUSTER research.note_version USING note_version_by_note;
ALTER TABLE research.note_version SET WITHOUT CLUSTER;
