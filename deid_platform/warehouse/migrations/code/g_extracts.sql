-- Extracts: what a project took out as files. Rows come through the view that analysts query; here stands what they may
-- be taken for, which versions they were, and whether all of them may still be held.

-- What an extract for a project is made of, or why there is none. Not granted to anyone: what readers call asks it.
CREATE OR REPLACE FUNCTION ctl.extract_basis(p_project text, OUT release text, OUT relation text, OUT grants jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p ctl.project;
    r ctl.release;
BEGIN
    SELECT j.* INTO p FROM ctl.project j JOIN ctl.project_member m ON m.project = j.project AND m.login = session_user
    WHERE j.project = p_project;
    -- Whether there is one that the login does not belong to is nobody's business.
    IF p.project IS NULL THEN
        RAISE EXCEPTION 'none of this login' USING ERRCODE = 'DG006';
    ELSIF p.until < CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date) THEN
        RAISE EXCEPTION 'ended on %', p.until USING ERRCODE = 'DG014';
    END IF;
    SELECT jsonb_agg(jsonb_build_object('site', g.site, 'note_type', g.note_type) ORDER BY g.site, g.note_type)
    INTO grants FROM ctl.project_grant g WHERE g.project = p_project;
    IF grants IS NULL THEN
        RAISE EXCEPTION 'nothing granted' USING ERRCODE = 'DG014';
    END IF;
    SELECT a.* INTO r FROM ctl.release a WHERE a.active;
    IF r.release IS NULL THEN
        PERFORM ctl.require_dossier(b.release) FROM ctl.publication b;
        RAISE EXCEPTION 'no release' USING ERRCODE = 'DG015';
    END IF;
    PERFORM ctl.require_dossier(r.release);
    release := r.release;
    relation := CASE WHEN r.limited THEN 'limited.notes' ELSE 'research.notes' END;
END $$;

-- Each extract is an entry in the ledger, which nothing removes: a login makes one a transaction and a hundred an hour.
-- Rows of a transaction of one's own are no older than the transaction itself; those of others that it sees are. An
-- hour is well before the server's numbers of transactions begin anew.
CREATE OR REPLACE FUNCTION ctl.bound_extracts() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_made integer;
    v_own integer;
BEGIN
    SELECT count(*), count(*) FILTER (WHERE age(e.xmin) <= 0) INTO v_made, v_own
    FROM ctl.extract e WHERE e.login = session_user AND e.at > clock_timestamp() - interval '1 hour';
    IF v_own > 0 THEN
        RAISE EXCEPTION 'a second one in one transaction' USING ERRCODE = 'DG020';
    ELSIF v_made >= 100 THEN
        RAISE EXCEPTION '100 in an hour' USING ERRCODE = 'DG020';
    END IF;
END $$;

-- Begins an extract: from here on the transaction reads for this project alone, whatever else the login may read.
CREATE OR REPLACE FUNCTION extracts.begin_extract(
    p_project text, OUT number bigint, OUT release text, OUT relation text, OUT grants jsonb, OUT detector text,
    OUT detector_digest text, OUT policy text, OUT policy_digest text, OUT key_id text, OUT at timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT b.release, b.relation, b.grants INTO begin_extract.release, begin_extract.relation, begin_extract.grants
    FROM ctl.extract_basis(p_project) b;
    PERFORM ctl.bound_locks();
    PERFORM ctl.bound_extracts();
    -- The rows that are read and those that are recorded must be of one moment.
    IF current_setting('transaction_isolation') <> 'repeatable read' THEN
        RAISE EXCEPTION 'isolation' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    SELECT r.detector, r.detector_digest, r.policy, r.policy_digest, r.key_id
    INTO begin_extract.detector, begin_extract.detector_digest, begin_extract.policy, begin_extract.policy_digest,
         begin_extract.key_id
    FROM ctl.release r WHERE r.release = begin_extract.release;
    PERFORM set_config('deid.project', p_project, true);
    number := nextval('ctl.extract_number');
    at := clock_timestamp();
END $$;

-- What tells whether a version still shows what an extract holds: its text, its date, and whose shift both have. Two
-- shifts of one patient would tell of each other.
CREATE OR REPLACE FUNCTION ctl.shown_digest(p_text text, p_shifted_date date, p_shift_key text) RETURNS bytea
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    -- As JSON, so that no session's DateStyle is part of it.
    SELECT sha256(convert_to(CAST(jsonb_build_array(p_text, p_shifted_date, p_shift_key) AS text), 'UTF8'))
$$;

-- Records which versions the extract that this session began holds: those that its own rows name. What it names beyond
-- that only makes it stale sooner. What the login may not read is answered as what is not there.
CREATE OR REPLACE FUNCTION extracts.add_notes(p_keys text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_number bigint := currval('ctl.extract_number');
    v_added integer;
BEGIN
    -- The sequence knows its number until the session ends.
    IF EXISTS (SELECT 1 FROM ctl.extract e WHERE e.id = v_number) THEN
        RAISE EXCEPTION 'closed' USING ERRCODE = 'DG016';
    END IF;
    WITH added AS (
        INSERT INTO ctl.extract_note (extract, note_key, feed, delivery_seq, promoted_at, shown_digest)
        SELECT v_number, v.note_key, v.feed, v.delivery_seq, v.promoted_at,
               ctl.shown_digest(v.text, v.shifted_date, v.shift_key)
        FROM research.current_version v JOIN ctl.release r ON r.release = v.release AND r.active
        WHERE v.note_key = ANY (p_keys)
          -- The owner reads here, whom no policy keeps from a row.
          AND EXISTS (
              SELECT 1 FROM ctl.granted g
              WHERE (g.site IS NULL OR g.site = v.site) AND (g.note_type IS NULL OR g.note_type = v.note_type))
        RETURNING note_key)
    SELECT count(DISTINCT a.note_key) INTO v_added FROM added a;
    PERFORM ctl.bound_locks();
    IF v_added <> (SELECT count(DISTINCT k.key) FROM unnest(p_keys) AS k (key)) THEN
        RAISE EXCEPTION 'notes' USING ERRCODE = 'DG016';
    END IF;
END $$;

-- Ends an extract: the ledger knows it from this transaction's commit on.
CREATE OR REPLACE FUNCTION extracts.close_extract(p_project text, p_notes integer, p_manifest_digest text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_number bigint;
    b record;
BEGIN
    SELECT * INTO b FROM ctl.extract_basis(p_project);
    PERFORM ctl.bound_extracts();
    v_number := currval('ctl.extract_number');
    IF p_notes < 1 THEN
        RAISE EXCEPTION 'no notes' USING ERRCODE = 'DG020';
    ELSIF p_notes > (SELECT count(*) FROM ctl.extract_note n WHERE n.extract = v_number) THEN
        RAISE EXCEPTION 'notes' USING ERRCODE = 'DG016';
    END IF;
    INSERT INTO ctl.extract (id, project, release, relation, grants, notes, manifest_digest)
    VALUES (v_number, p_project, b.release, b.relation, b.grants, p_notes, p_manifest_digest);
    INSERT INTO ctl.ledger (event, release, requirements, counts)
    VALUES ('extracted', b.release, ARRAY[p_project, p_manifest_digest],
            jsonb_build_object('extract', v_number, 'notes', p_notes));
    PERFORM ctl.bound_locks();
END $$;

-- How each extract stands, or one. `hidden`: notes of it that its release does not show any more as they were taken,
-- for whatever reason; of a release that expired nothing can be told, so that all of them count. `granted`: whether its
-- project goes on, still has its login, and may still read all that it could when the extract was made.
CREATE OR REPLACE FUNCTION ctl.extract_standing(p_extract bigint DEFAULT NULL)
RETURNS TABLE (
    number bigint, project text, login text, at timestamptz, release text, release_state text, notes integer,
    manifest_digest text, hidden bigint, granted boolean, destroyed boolean
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT e.id, e.project, e.login, e.at, e.release,
           CASE WHEN r.active THEN 'active' WHEN r.expired_at IS NOT NULL THEN 'expired'
                WHEN r.withheld_at IS NOT NULL THEN 'withheld' ELSE 'left' END,
           e.notes, e.manifest_digest,
           CASE WHEN x.extract IS NOT NULL THEN 0
                WHEN r.expired_at IS NOT NULL THEN e.notes
                ELSE (SELECT count(*) FROM ctl.extract_note n WHERE n.extract = e.id)
                     -- Counted are those that are left: joined, what hides a note is not looked up note by note.
                     - (SELECT count(*) FROM ctl.extract_note n
                        JOIN research.current_version v ON v.release = e.release AND v.feed = n.feed
                         AND v.note_key = n.note_key AND v.delivery_seq = n.delivery_seq
                         AND (v.promoted_at = n.promoted_at
                              OR ctl.shown_digest(v.text, v.shifted_date, v.shift_key) = n.shown_digest)
                        WHERE n.extract = e.id)
           END,
           EXISTS (
               SELECT 1 FROM ctl.project p JOIN ctl.project_member m ON m.project = p.project AND m.login = e.login
               WHERE p.project = e.project
                 AND (p.until IS NULL OR p.until >= CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date))
                 AND NOT EXISTS (
                     SELECT 1 FROM jsonb_to_recordset(e.grants) AS h (site text, note_type text)
                     WHERE NOT EXISTS (
                         SELECT 1 FROM ctl.project_grant g
                         WHERE g.project = e.project AND (g.site IS NULL OR g.site = h.site)
                           AND (g.note_type IS NULL OR g.note_type = h.note_type)))),
           x.extract IS NOT NULL
    FROM ctl.extract e
    JOIN ctl.release r ON r.release = e.release
    LEFT JOIN ctl.extract_end x ON x.extract = e.id
    WHERE p_extract IS NULL OR e.id = p_extract
    ORDER BY e.id
$$;

-- The same of the extract whose manifest a reader holds.
CREATE OR REPLACE FUNCTION extracts.standing(p_manifest_digest text)
RETURNS TABLE (
    number bigint, project text, login text, at timestamptz, release text, release_state text, notes integer,
    manifest_digest text, hidden bigint, granted boolean, destroyed boolean
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.* FROM ctl.extract e CROSS JOIN LATERAL ctl.extract_standing(e.id) s
    WHERE e.manifest_digest = p_manifest_digest
$$;

-- How many of these notes are not among those that the extract with this manifest was recorded with, or are not as the
-- versions that it was recorded with show them: a reader may record the keys of today for files of yesterday. What is
-- hidden since cannot be compared any more; `standing` counts it. A digest is of date, line feed and text.
DROP FUNCTION IF EXISTS extracts.unrecorded(text, text[]);
CREATE OR REPLACE FUNCTION extracts.unrecorded(p_manifest_digest text, p_keys text[], p_digests bytea[]) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT cardinality(p_keys) - count(DISTINCT k.place)
    FROM unnest(p_keys, p_digests) WITH ORDINALITY AS k (key, digest, place)
    JOIN ctl.extract e ON e.manifest_digest = p_manifest_digest
    JOIN ctl.extract_note n ON n.extract = e.id AND n.note_key = k.key
    LEFT JOIN research.current_version v
      ON v.release = e.release AND v.feed = n.feed AND v.note_key = n.note_key AND v.delivery_seq = n.delivery_seq
     AND (v.promoted_at = n.promoted_at
          OR ctl.shown_digest(v.text, v.shifted_date, v.shift_key) = n.shown_digest)
    WHERE v.note_key IS NULL
       OR k.digest = sha256(convert_to(coalesce(to_char(v.shifted_date, 'YYYY-MM-DD'), '') || chr(10) || v.text, 'UTF8'))
$$;

-- The extracts that hold any version of a note, or of what a finding hides, unless they are destroyed.
CREATE OR REPLACE FUNCTION ctl.extracts_holding(p_keys text[], p_finding bigint DEFAULT NULL) RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT n.extract FROM ctl.extract_note n
    WHERE n.note_key IN (SELECT unnest(p_keys)
                         UNION SELECT t.note_key FROM research.retraction t WHERE t.finding = p_finding)
      AND NOT EXISTS (SELECT 1 FROM ctl.extract_end x WHERE x.extract = n.extract)
    ORDER BY 1
$$;

-- Names in the ledger each extract of which more is hidden than it says already, and returns them. Whoever has hidden
-- anything calls it afterwards. An extract that commits later looks for itself before it shows its files.
CREATE OR REPLACE FUNCTION ctl.name_extracts() RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
    LOCK TABLE ctl.extract_end IN SHARE ROW EXCLUSIVE MODE; -- one caller after another
    RETURN QUERY
    WITH stale AS (
        SELECT s.number, s.release, s.project, s.hidden FROM ctl.extract_standing() s
        WHERE s.hidden > coalesce((
            SELECT CAST(l.counts ->> 'hidden' AS bigint) FROM ctl.ledger l
            WHERE l.event = 'extract-stale' AND CAST(l.counts ->> 'extract' AS bigint) = s.number
            ORDER BY l.id DESC LIMIT 1), 0)),
    named AS (
        INSERT INTO ctl.ledger (event, release, requirements, counts)
        SELECT 'extract-stale', s.release, ARRAY[s.project],
               jsonb_build_object('extract', s.number, 'hidden', s.hidden)
        FROM stale s)
    SELECT s.number FROM stale s ORDER BY 1;
END $$;

-- Records that every copy of an extract is destroyed.
CREATE OR REPLACE FUNCTION ctl.end_extract(p_extract bigint, p_who text, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM ctl.require_who_and_why(p_who, p_reason);
    INSERT INTO ctl.extract_end (extract, who, reason)
    SELECT e.id, ctl.trimmed(p_who), ctl.trimmed(p_reason) FROM ctl.extract e WHERE e.id = p_extract
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'none of that number' USING ERRCODE = 'DG016';
    END IF;
    INSERT INTO ctl.ledger (event, who, reason, counts)
    VALUES ('extract-destroyed', ctl.trimmed(p_who), ctl.trimmed(p_reason), jsonb_build_object('extract', p_extract));
END $$;
