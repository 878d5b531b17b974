-- Tables beside the notes. Their rows are versions of notes whose type begins with structured:, a line `name: value` a
-- column, so that gate, withdrawals, corrections and projects hold for them as they are. Views show the lines as columns.

-- Which table each row is of: for counts.
CREATE OR REPLACE VIEW research.structured WITH (security_barrier) AS
SELECT v.note_key AS row_key, substr(v.patient_key, 1) AS patient_key, substr(v.site, 1) AS site,
       substr(v.note_type, 12) AS table_name, substr(r.release, 1) AS release
FROM research.current_version v
JOIN ctl.release r ON r.release = v.release AND r.active AND NOT r.limited
WHERE v.note_type LIKE 'structured:%' AND (SELECT ctl.log_access('research.structured'))
ORDER BY v.note_key;

-- Makes the views of the tables that deid.toml maps, and drops those of tables that it maps no more. p_tables: table ->
-- list of {name, comment}. Not granted to anyone: `deid db bootstrap` calls it as the owner.
CREATE OR REPLACE FUNCTION ctl.make_structured(p_tables jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_schema text;
    v_view record;
    v_table text;
    v_column jsonb;
    v_columns text;
BEGIN
    FOR v_view IN
        SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'v' AND n.nspname IN ('research', 'limited') AND c.relname LIKE 'structured\_%'
    LOOP
        EXECUTE format('DROP VIEW %I.%I', v_view.nspname, v_view.relname);
    END LOOP;
    FOR v_table IN SELECT jsonb_object_keys(p_tables) ORDER BY 1 LOOP
        SELECT string_agg(format('substring(v.text FROM %L) AS %I',
                   '(?n)^' || (c ->> 'name') || ': (.*)$', c ->> 'name'), ', ' ORDER BY ordinality)
        INTO v_columns FROM jsonb_array_elements(p_tables -> v_table) WITH ORDINALITY AS e (c, ordinality);
        FOREACH v_schema IN ARRAY ARRAY['research', 'limited'] LOOP
            EXECUTE format(
                'CREATE VIEW %1$I.%2$I WITH (security_barrier) AS'
                ' SELECT v.note_key AS row_key, substr(v.patient_key, 1) AS patient_key, substr(v.site, 1) AS site, %3$s,'
                ' substr(r.release, 1) AS release'
                ' FROM research.current_version v JOIN ctl.release r'
                ' ON r.release = v.release AND r.active AND r.limited = %4$L'
                ' WHERE v.note_type = %5$L AND (SELECT ctl.log_access(%6$L)) ORDER BY v.note_key',
                v_schema, 'structured_' || v_table, v_columns, v_schema = 'limited', 'structured:' || v_table,
                v_schema || '.structured_' || v_table);
            EXECUTE format('COMMENT ON VIEW %I.%I IS %L', v_schema, 'structured_' || v_table,
                'Rows of the table ' || v_table || ' beside the notes, under the same keys, surrogates and shifts.');
            EXECUTE format('COMMENT ON COLUMN %I.%I.row_key IS %L', v_schema, 'structured_' || v_table,
                'The row. Policy: keyed hash of the row''s id.');
            EXECUTE format('COMMENT ON COLUMN %I.%I.patient_key IS %L', v_schema, 'structured_' || v_table,
                'As in research.notes. Policy: keyed hash of the source''s patient id.');
            EXECUTE format('COMMENT ON COLUMN %I.%I.site IS %L', v_schema, 'structured_' || v_table,
                'As in research.notes. Policy: kept: the name of deid.toml.');
            EXECUTE format('COMMENT ON COLUMN %I.%I.release IS %L', v_schema, 'structured_' || v_table,
                'As in research.notes. Policy: made by the platform.');
            FOR v_column IN SELECT * FROM jsonb_array_elements(p_tables -> v_table) LOOP
                EXECUTE format('COMMENT ON COLUMN %I.%I.%I IS %L', v_schema, 'structured_' || v_table,
                    v_column ->> 'name', 'As the source has it. ' || (v_column ->> 'comment'));
            END LOOP;
            EXECUTE format('GRANT SELECT ON %I.%I TO %I', v_schema, 'structured_' || v_table,
                CASE v_schema WHEN 'research' THEN 'analyst' ELSE 'limited_analyst' END);
        END LOOP;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION ctl.make_structured FROM PUBLIC;

GRANT SELECT ON research.structured TO analyst, deid_modeller;

COMMENT ON VIEW research.structured IS
    'Which tables beside the notes there are, row by row; research.structured_TABLE has their columns.';
COMMENT ON COLUMN research.structured.row_key IS 'The row. Policy: keyed hash of the row''s id.';
COMMENT ON COLUMN research.structured.patient_key IS
    'As in research.notes. Policy: keyed hash of the source''s patient id.';
COMMENT ON COLUMN research.structured.site IS 'As in research.notes. Policy: kept: the name of deid.toml.';
COMMENT ON COLUMN research.structured.table_name IS 'The table. Policy: kept: the name of deid.toml.';
COMMENT ON COLUMN research.structured.release IS 'As in research.notes. Policy: made by the platform.';
