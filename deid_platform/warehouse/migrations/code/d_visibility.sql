-- What can be seen: which versions are current, who may read which of them, and the log of who did.

-- Keeps research.version_key what research.note_version holds.
CREATE OR REPLACE FUNCTION ctl.note_new_versions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO research.version_key (note_key, feed, delivery_seq, release)
    SELECT v.note_key, v.feed, v.delivery_seq, v.release FROM versions v;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION ctl.forget_old_versions() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM research.version_key k USING versions v
    WHERE (k.note_key, k.feed, k.delivery_seq, k.release) = (v.note_key, v.feed, v.delivery_seq, v.release);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_new_versions AFTER INSERT ON research.note_version
    REFERENCING NEW TABLE AS versions FOR EACH STATEMENT EXECUTE FUNCTION ctl.note_new_versions();
CREATE OR REPLACE TRIGGER forget_old_versions AFTER DELETE ON research.note_version
    REFERENCING OLD TABLE AS versions FOR EACH STATEMENT EXECUTE FUNCTION ctl.forget_old_versions();

-- What is withdrawn: as promotions and hidden stagings say it, and as the files of deliveries that wait for their run do.
-- `rejoined` stands beside them.
CREATE OR REPLACE VIEW research.tombstone AS
SELECT w.kind, w.key, w.feed, w.delivery_seq FROM research.withdrawal w
UNION ALL
SELECT a.kind, a.key, a.feed, a.delivery_seq FROM research.arrived_withdrawal a;

-- Patients who left. Of one feed's statements about a patient the newest counts; a feed cannot take back what another
-- said, since watermarks of two feeds have no common order.
CREATE OR REPLACE VIEW research.withdrawn_patient AS
SELECT w.key AS patient_key
FROM research.tombstone w
WHERE w.kind = 'patient'
  AND NOT EXISTS (
      SELECT 1 FROM research.withdrawal j
      WHERE j.kind = 'rejoined' AND j.key = w.key AND j.feed = w.feed AND j.delivery_seq > w.delivery_seq);

-- The current version of each note of each release. Not shown: a version that a newer one corrected, in whichever
-- release the correction stands and whether or not it passed the gate; one that was withdrawn, or whose patient was; one
-- in which a finding was reported since it passed; one whose dates were moved otherwise than those that its patient's
-- notes were promoted with last, since two shifts of one patient would tell of each other.
CREATE OR REPLACE VIEW research.current_version AS
SELECT v.*
FROM research.note_version v
WHERE NOT EXISTS (
      SELECT 1 FROM research.version_key o
      WHERE o.note_key = v.note_key AND o.feed = v.feed AND o.delivery_seq > v.delivery_seq)
  AND NOT EXISTS (
      SELECT 1 FROM research.held h
      WHERE h.note_key = v.note_key AND h.feed = v.feed
        AND (h.delivery_seq > v.delivery_seq OR (h.delivery_seq = v.delivery_seq AND h.release = v.release)))
  AND NOT EXISTS (
      SELECT 1 FROM research.tombstone w
      WHERE w.kind = 'note' AND w.key = v.note_key AND w.feed = v.feed AND w.delivery_seq >= v.delivery_seq)
  -- Two conditions, each of which looks up a key: together they would be read whole for every note.
  AND NOT EXISTS (SELECT 1 FROM research.withdrawn_patient w WHERE w.patient_key = v.patient_key)
  AND NOT EXISTS (SELECT 1 FROM research.opted_out o WHERE o.patient_key = v.patient_key)
  AND NOT EXISTS (
      SELECT 1 FROM research.shift s
      WHERE s.release = v.release AND s.patient_key = v.patient_key AND s.shift_key <> v.shift_key)
  AND NOT EXISTS (
      SELECT 1 FROM research.retraction t
      WHERE t.note_key = v.note_key AND t.feed = v.feed AND t.release = v.release
        AND t.delivery_seq = v.delivery_seq AND t.at >= v.promoted_at);

-- What the projects of whoever is logged in were granted. session_user: SET ROLE does not change it. The day is the
-- server's, in UTC: current_date is the reader's own, whose SET timezone would put off the end of a project, and a statement that goes on over midnight would stop its clock.
CREATE OR REPLACE VIEW ctl.granted AS
SELECT g.project, g.site, g.note_type
FROM ctl.project_grant g
JOIN ctl.project p ON p.project = g.project
    AND (p.until IS NULL OR p.until >= CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date))
JOIN ctl.project_member m ON m.project = g.project AND m.login = session_user
-- An extract is one project's. Whoever sets it can only read less.
WHERE coalesce(current_setting('deid.project', true), '') IN ('', g.project);

-- Forced on the owner too, since the views below read as the owner: what the gate's own functions (which run as the
-- owner) and the modeller may read, anyone else may read only as far as a project of theirs was granted it.
ALTER TABLE research.note_version ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS by_project ON research.note_version;
CREATE POLICY by_project ON research.note_version
    USING (
        current_user IN ('deid_owner', 'deid_modeller')
        -- Each subquery runs once a statement, not once a row.
        OR (SELECT bool_or(g.site IS NULL AND g.note_type IS NULL) FROM ctl.granted g)
        OR site IN (SELECT g.site FROM ctl.granted g WHERE g.note_type IS NULL)
        OR note_type IN (SELECT g.note_type FROM ctl.granted g WHERE g.site IS NULL)
        OR (site, note_type) IN (SELECT g.site, g.note_type FROM ctl.granted g))
    WITH CHECK (current_user = 'deid_owner');

-- Enters a read into the log: counted in the row of the same session, view, release, projects, application and client,
-- if that is of the last minute. A session may call itself otherwise as often as it likes: ten rows a minute, and what
-- is read under further names counts in the newest. Each read takes a number: those that no row counts were rolled back. In a read-only transaction nothing can be
-- entered, so nothing is read either.
CREATE OR REPLACE FUNCTION ctl.log_access(p_relation text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_release text := (SELECT r.release FROM ctl.release r WHERE r.active);
    v_projects text[] := ARRAY(SELECT DISTINCT g.project FROM ctl.granted g ORDER BY 1);
    v_application text := current_setting('application_name');
    v_row bigint;
    v_rows bigint;
    v_same boolean;
BEGIN
    SELECT o.id, o.n, o.same INTO v_row, v_rows, v_same
    FROM (SELECT a.id, count(*) OVER () AS n,
                 (a.application, a.client) IS NOT DISTINCT FROM (v_application, inet_client_addr()) AS same
          FROM ctl.access_log a
          WHERE a.login = session_user AND a.at > clock_timestamp() - interval '1 minute'
            AND a.session = pg_backend_pid() AND a.relation = p_relation
            AND a.release IS NOT DISTINCT FROM v_release AND a.projects = v_projects) o
    ORDER BY o.same DESC, o.id DESC LIMIT 1;
    IF v_row IS NULL OR (NOT v_same AND v_rows < 10) THEN
        INSERT INTO ctl.access_log (login, relation, release, projects, application, client, session)
        VALUES (session_user, p_relation, v_release, v_projects, v_application, inet_client_addr(), pg_backend_pid());
    ELSE
        PERFORM nextval('ctl.access_log_id_seq');
        UPDATE ctl.access_log a
        SET reads = a.reads + 1, last_at = greatest(clock_timestamp(), a.at, a.last_at) WHERE a.id = v_row;
    END IF;
    PERFORM ctl.bound_locks();
    RETURN true;
END $$;

-- Only the key of a note, by which notes are looked up, is the table's own column. Comparisons of plain columns are
-- leakproof: the planner runs them on rows before it knows whether those may be read, and EXPLAIN ANALYZE tells what came
-- of it. substr(x, 1) and x + 0 change nothing and are not leakproof, so that row security always comes first.
CREATE OR REPLACE VIEW research.notes WITH (security_barrier) AS
SELECT v.note_key, substr(v.patient_key, 1) AS patient_key, substr(v.provider_key, 1) AS provider_key,
       substr(v.encounter_key, 1) AS encounter_key, substr(v.site, 1) AS site, substr(v.note_type, 1) AS note_type,
       v.note_year + 0 AS note_year, v.shifted_date + 0 AS shifted_date, substr(v.language, 1) AS language,
       substr(v.text, 1) AS text, substr(r.release, 1) AS release
FROM research.current_version v
JOIN ctl.release r ON r.release = v.release AND r.active AND NOT r.limited
-- A subquery of its own: once a statement.
WHERE (SELECT ctl.log_access('research.notes')) AND coalesce(v.note_type, '') NOT LIKE 'structured:%'
-- Rows lie delivery by delivery, and a delivery is about as old as its notes.
ORDER BY v.note_key;

-- A release that is a limited data set is here and nowhere else: neither in research nor, since those are built from
-- it, in omop and marts.
CREATE OR REPLACE VIEW limited.notes WITH (security_barrier) AS
SELECT v.note_key, substr(v.patient_key, 1) AS patient_key, substr(v.provider_key, 1) AS provider_key,
       substr(v.encounter_key, 1) AS encounter_key, substr(v.site, 1) AS site, substr(v.note_type, 1) AS note_type,
       v.shifted_date + 0 AS note_date, substr(v.language, 1) AS language, substr(v.text, 1) AS text, substr(r.release, 1) AS release
FROM research.current_version v
JOIN ctl.release r ON r.release = v.release AND r.active AND r.limited
WHERE (SELECT ctl.log_access('limited.notes')) AND coalesce(v.note_type, '') NOT LIKE 'structured:%'
ORDER BY v.note_key;

-- How many notes are shown at all, whoever's projects they belong to.
CREATE OR REPLACE FUNCTION ctl.notes_shown() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*) FROM research.current_version v JOIN ctl.release r ON r.release = v.release AND r.active
    WHERE coalesce(v.note_type, '') NOT LIKE 'structured:%'
$$;

-- No statistics of what stands behind a view: the planner estimates by them how many rows a reader's condition would
-- find, in rows that the reader may not read too, and EXPLAIN tells the estimate. The migration that began this also
-- dropped those that were there (sql/0006_b_statistics.sql).
DO $$
DECLARE
    v_column record;
BEGIN
    FOR v_column IN
        SELECT a.attrelid::regclass AS relation, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND coalesce(a.attstattarget, -1) <> 0
          AND (c.relnamespace IN ('research'::regnamespace, 'quality'::regnamespace)
               OR a.attrelid IN ('ctl.release'::regclass, 'ctl.project'::regclass, 'ctl.project_grant'::regclass,
                                 'ctl.project_member'::regclass, 'ctl.dossier'::regclass, 'ctl.dossier_writing'::regclass, 'ctl.signature'::regclass,
                                 'ctl.held_out_set'::regclass, 'ctl.held_out_source'::regclass, 'ctl.look'::regclass))
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', v_column.relation, v_column.attname);
    END LOOP;
END $$;
