-- What the privacy officer does: answers for a requirement, retracts a note, grants a project, records opt-outs.

-- Records that someone takes responsibility for a requirement that is not met, for one delivery or a whole feed.
CREATE OR REPLACE FUNCTION ctl.waive(
    p_delivery text, p_feed text, p_requirement text, p_who text, p_reason text, p_until date
) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_id bigint;
BEGIN
    -- First, so that whoever mistypes it is not asked for the rest.
    IF NOT EXISTS (
        SELECT 1 FROM ctl.requirement r JOIN ctl.profile p ON p.name = r.profile AND p.active
        WHERE r.requirement = p_requirement AND r.waivable) THEN
        RAISE EXCEPTION 'requirement' USING ERRCODE = 'DG003';
    ELSIF num_nonnulls(p_delivery, p_feed) <> 1 THEN
        RAISE EXCEPTION 'scope' USING ERRCODE = 'DG003';
    ELSIF coalesce(btrim(p_who), '') = '' THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG003';
    ELSIF p_reason IS NULL OR length(btrim(p_reason)) < 10 THEN
        RAISE EXCEPTION 'reason' USING ERRCODE = 'DG003';
    ELSIF p_until IS NULL OR p_until <= CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date) THEN
        RAISE EXCEPTION 'until' USING ERRCODE = 'DG003';
    END IF;
    INSERT INTO ctl.waiver (delivery, feed, requirement, who, reason, until)
    VALUES (p_delivery, p_feed, p_requirement, btrim(p_who), btrim(p_reason), p_until)
    RETURNING id INTO v_id;
    INSERT INTO ctl.ledger (event, delivery, requirements, counts, who, reason)
    VALUES ('waived', p_delivery, ARRAY[p_requirement], jsonb_build_object('waiver', v_id), btrim(p_who),
            btrim(p_reason));
    RETURN v_id;
END $$;

-- Ends a waiver before its last day. Returns its requirement.
CREATE OR REPLACE FUNCTION ctl.end_waiver(p_waiver bigint, p_who text, p_reason text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    w ctl.waiver;
BEGIN
    IF coalesce(btrim(p_who), '') = '' THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG003';
    ELSIF p_reason IS NULL OR length(btrim(p_reason)) < 10 THEN
        RAISE EXCEPTION 'reason' USING ERRCODE = 'DG003';
    END IF;
    -- No promotion in between: what passes after this passes without the waiver.
    PERFORM ctl.lock_releases();
    SELECT * INTO w FROM ctl.waiver WHERE id = p_waiver;
    IF w.id IS NULL OR w.until < CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date) OR EXISTS (
        SELECT 1 FROM ctl.waiver_end e WHERE e.waiver = w.id) THEN
        RAISE EXCEPTION 'no waiver of that number is in force' USING ERRCODE = 'DG008';
    END IF;
    INSERT INTO ctl.waiver_end (waiver, who, reason) VALUES (w.id, btrim(p_who), btrim(p_reason));
    INSERT INTO ctl.ledger (event, delivery, requirements, counts, who, reason)
    VALUES ('waiver-ended', w.delivery, ARRAY[w.requirement], jsonb_build_object('waiver', w.id), btrim(p_who),
            btrim(p_reason));
    RETURN w.requirement;
END $$;

-- Hides a note in which a reader found an identifier, in every release at once, and every other note in which the
-- same string stands as words of its own; with more than p_limit of those the string is no name, and they are counted
-- alone. From then on nothing that was measured before counts at the gate.
-- Here the string is only ever a variable; `reported_since` hands it to whoever seals it in the PHI zone.
CREATE OR REPLACE FUNCTION ctl.retract(
    p_keys text[], p_start integer, p_end integer, p_label text, p_who text, p_limit integer,
    OUT finding bigint, OUT length integer, OUT releases integer, OUT matches integer, OUT hidden integer
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v research.note_version;
    string text;
    v_bare text;
    v_blank text := E' \t\r\n' || chr(65532);
    v_pattern text;
BEGIN
    IF coalesce(btrim(p_who), '') = '' THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG003';
    END IF;
    -- No promotion in between: what passes after this passes knowing of it.
    PERFORM ctl.lock_releases();
    SELECT n.* INTO v FROM research.note_version n JOIN ctl.release r ON r.release = n.release
    WHERE n.note_key = ANY (p_keys)
    ORDER BY r.active DESC, r.created_at DESC, n.delivery_seq DESC LIMIT 1;
    IF v.note_key IS NULL THEN
        RAISE EXCEPTION 'no such note' USING ERRCODE = 'DG005';
    END IF;
    -- The text with its tags blanked: they say what was removed, and no reader means them.
    v_bare := (
        SELECT string_agg(CASE WHEN m.piece[1] ~ '^\[[A-Z]' AND m.piece[1] ~ '\]$'
                               THEN repeat(chr(65532), pg_catalog.length(m.piece[1])) ELSE m.piece[1] END, '' ORDER BY m.n)
        FROM regexp_matches(v.text, '\[[A-Z][^][]*\]|[^[]+|\[', 'g') WITH ORDINALITY AS m (piece, n));
    string := substring(v_bare FROM p_start + 1 FOR p_end - p_start);
    IF p_start < 0 OR p_end <= p_start OR p_end > pg_catalog.length(v.text) OR string !~ '\w' THEN
        RAISE EXCEPTION 'span' USING ERRCODE = 'DG005';
    END IF;
    p_end := p_start + pg_catalog.length(rtrim(string, v_blank));
    p_start := p_end - pg_catalog.length(ltrim(rtrim(string, v_blank), v_blank));
    -- Half a word would neither be found in other notes nor by the next leak check: the words that it cuts belong to it.
    IF substring(v_bare FROM p_start + 1 FOR 1) ~ '\w' THEN
        p_start := p_start - pg_catalog.length(substring(left(v_bare, p_start) FROM '\w*$'));
    END IF;
    IF substring(v_bare FROM p_end FOR 1) ~ '\w' THEN
        p_end := p_end + pg_catalog.length(substring(substring(v_bare FROM p_end + 1) FROM '^\w*'));
    END IF;
    string := substring(v.text FROM p_start + 1 FOR p_end - p_start);
    length := p_end - p_start;
    v_pattern := '(^|\W)' || regexp_replace(string, '(\W)', '\\\1', 'g') || '(\W|$)';
    -- One statement: what is counted is what is hidden.
    WITH found AS MATERIALIZED (
        SELECT n.note_key, n.feed, n.release, n.delivery_seq, n.delivery, n.text,
               n.note_key = ANY (p_keys) AS own, n.text ~* v_pattern AS holds_it
        FROM research.note_version n
        WHERE n.note_key = ANY (p_keys) OR (strpos(lower(n.text), lower(string)) > 0 AND n.text ~* v_pattern)),
    counted AS (
        SELECT count(DISTINCT f.release) FILTER (WHERE f.holds_it)::integer AS releases,
               count(DISTINCT (f.feed, f.note_key)) FILTER (WHERE NOT f.own)::integer AS matches
        FROM found f),
    kept AS (SELECT f.* FROM found f CROSS JOIN counted c WHERE f.own OR c.matches <= p_limit),
    filed AS (
        INSERT INTO ctl.finding (who, label, release, feed, note_key, span_start, span_end, releases, matches,
            everywhere, hidden)
        SELECT btrim(p_who), p_label, v.release, v.feed, v.note_key, p_start, p_end, c.releases, c.matches,
               c.matches <= p_limit,
               (SELECT count(DISTINCT (k.feed, k.note_key)) FROM kept k)
        FROM counted c
        RETURNING id, ctl.finding.releases, ctl.finding.matches, ctl.finding.hidden),
    retracted AS (
        INSERT INTO research.retraction (note_key, feed, release, delivery_seq, delivery, finding, text_digest)
        SELECT k.note_key, k.feed, k.release, k.delivery_seq, k.delivery, f.id,
               encode(sha256(convert_to(k.text, 'UTF8')), 'hex')
        FROM kept k CROSS JOIN filed f),
    republished AS ( -- the next promotion of these deliveries copies anew, whatever it held before
        UPDATE ctl.publication p SET staged_digest = NULL
        FROM (SELECT DISTINCT k.release, k.delivery FROM kept k) k
        WHERE p.release = k.release AND p.delivery = k.delivery)
    SELECT f.id, f.releases, f.matches, f.hidden INTO finding, releases, matches, hidden FROM filed f;
    INSERT INTO ctl.ledger (event, delivery, release, who, counts)
    VALUES ('retracted', v.delivery, v.release, btrim(p_who), jsonb_build_object(
        'finding', finding, 'releases', releases, 'matches', matches, 'hidden', hidden));
END $$;

-- The strings of the findings after one, for whoever keeps them in the PHI zone. A text that is gone by now needs no
-- keeping: its string is empty.
CREATE OR REPLACE FUNCTION ctl.reported_since(p_newest bigint)
RETURNS TABLE (finding bigint, feed text, label text, string text, everywhere boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.id, f.feed, f.label, coalesce(s.string, ''), f.everywhere AND s.string IS NOT NULL
    FROM ctl.finding f
    LEFT JOIN LATERAL (
        SELECT substring(n.text FROM f.span_start + 1 FOR f.span_end - f.span_start) AS string
        FROM research.retraction t
        JOIN research.note_version n ON n.note_key = t.note_key AND n.feed = t.feed AND n.release = t.release
         AND n.delivery_seq = t.delivery_seq AND encode(sha256(convert_to(n.text, 'UTF8')), 'hex') = t.text_digest
        WHERE t.finding = f.id AND t.note_key = f.note_key AND t.feed = f.feed AND t.release = f.release
        ORDER BY n.delivery_seq DESC LIMIT 1) s ON true
    WHERE f.id > p_newest ORDER BY f.id
$$;

-- The loader's word on the patients who take no part in research: the whole list under each of the secrets named.
CREATE OR REPLACE FUNCTION ctl.announce_opt_outs(p_secrets text[], p_key_ids text[], p_keys text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
    INSERT INTO staging.opt_out_list AS l (key_id, keys)
    SELECT s.key_id, ARRAY(SELECT k.key FROM unnest(p_keys, p_key_ids) AS k (key, key_id) WHERE k.key_id = s.key_id)
    FROM (SELECT DISTINCT unnest(p_secrets) AS key_id) s ORDER BY s.key_id
    ON CONFLICT (key_id) DO UPDATE SET keys = EXCLUDED.keys, at = EXCLUDED.at
$$;

-- The promoter's word on the same, which makes it so. Whom either names is hidden; shown again is only whom neither
-- names, so that no one login can show a patient who opted out. What stands under another secret stays: the list of
-- whoever lacks that secret says nothing about it.
CREATE OR REPLACE FUNCTION ctl.set_opt_outs(
    p_secrets text[], p_key_ids text[], p_keys text[], OUT added integer, OUT removed integer
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
    -- Otherwise the caller could go by a list of before.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'isolation' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    LOCK TABLE research.opted_out IN SHARE ROW EXCLUSIVE MODE;
    WITH named AS (
        SELECT k.key FROM unnest(p_keys) AS k (key)
        UNION SELECT unnest(l.keys) FROM staging.opt_out_list l)
    DELETE FROM research.opted_out o
    USING staging.opt_out_list l
    WHERE o.key_id = ANY (p_secrets) AND l.key_id = o.key_id
      AND NOT EXISTS (SELECT 1 FROM named n WHERE n.key = o.patient_key);
    GET DIAGNOSTICS removed = ROW_COUNT;
    INSERT INTO research.opted_out (patient_key, key_id)
    SELECT n.key, n.key_id
    FROM (SELECT k.key, k.key_id FROM unnest(p_keys, p_key_ids) AS k (key, key_id)
          UNION SELECT unnest(l.keys), l.key_id FROM staging.opt_out_list l) n
    -- What is no key of anybody's must not keep those that are from being hidden.
    WHERE n.key_id IS NOT NULL AND length(n.key) <= 200
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS added = ROW_COUNT;
    IF added + removed > 0 THEN
        INSERT INTO ctl.ledger (event, counts)
        VALUES ('opt-outs', jsonb_build_object('added', added, 'removed', removed));
    END IF;
END $$;

-- Projects: made or given another purpose or end; granted sites and types; given and taken members.
CREATE OR REPLACE FUNCTION ctl.set_project(p_project text, p_purpose text, p_until date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO ctl.project (project, purpose, until) VALUES (p_project, p_purpose, p_until)
    ON CONFLICT (project) DO UPDATE SET purpose = EXCLUDED.purpose, until = EXCLUDED.until;
    INSERT INTO ctl.ledger (event, requirements) VALUES ('project-set', ARRAY[p_project]);
END $$;

CREATE OR REPLACE FUNCTION ctl.grant_project(
    p_project text, p_site text, p_note_type text, p_granted boolean
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ctl.project p WHERE p.project = p_project) THEN
        RAISE EXCEPTION 'no such project' USING ERRCODE = 'DG006';
    END IF;
    IF p_granted THEN
        INSERT INTO ctl.project_grant (project, site, note_type) VALUES (p_project, p_site, p_note_type)
        ON CONFLICT DO NOTHING;
    ELSE
        DELETE FROM ctl.project_grant g
        WHERE g.project = p_project AND (g.site, g.note_type) IS NOT DISTINCT FROM (p_site, p_note_type);
    END IF;
    INSERT INTO ctl.ledger (event, requirements)
    VALUES (CASE WHEN p_granted THEN 'project-granted' ELSE 'project-revoked' END,
            ARRAY[p_project, coalesce(p_site, '*'), coalesce(p_note_type, '*')]);
END $$;

CREATE OR REPLACE FUNCTION ctl.set_member(p_project text, p_login text, p_member boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ctl.project p WHERE p.project = p_project) THEN
        RAISE EXCEPTION 'no such project' USING ERRCODE = 'DG006';
    END IF;
    IF p_member THEN
        INSERT INTO ctl.project_member (project, login) VALUES (p_project, p_login) ON CONFLICT DO NOTHING;
    ELSE
        DELETE FROM ctl.project_member m WHERE m.project = p_project AND m.login = p_login;
    END IF;
    INSERT INTO ctl.ledger (event, requirements, who)
    VALUES (CASE WHEN p_member THEN 'project-joined' ELSE 'project-left' END, ARRAY[p_project], p_login);
END $$;

-- Deletes a project. The ledger keeps what it was for, what it could read and who belonged to it. Returns its members.
CREATE OR REPLACE FUNCTION ctl.delete_project(p_project text, p_who text, p_reason text) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p ctl.project;
    v_members text[];
BEGIN
    IF coalesce(btrim(p_who), '') = '' THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG003';
    ELSIF p_reason IS NULL OR length(btrim(p_reason)) < 10 THEN
        RAISE EXCEPTION 'reason' USING ERRCODE = 'DG003';
    END IF;
    -- Locked, so that nobody joins or is granted anything in between.
    SELECT * INTO p FROM ctl.project WHERE project = p_project FOR UPDATE;
    IF p.project IS NULL THEN
        RAISE EXCEPTION 'no such project' USING ERRCODE = 'DG006';
    END IF;
    v_members := ARRAY(SELECT m.login FROM ctl.project_member m WHERE m.project = p_project ORDER BY m.login);
    INSERT INTO ctl.ledger (event, requirements)
    SELECT 'project-revoked', ARRAY[p_project, coalesce(g.site, '*'), coalesce(g.note_type, '*')]
    FROM ctl.project_grant g WHERE g.project = p_project ORDER BY g.site, g.note_type;
    INSERT INTO ctl.ledger (event, requirements, who)
    SELECT 'project-left', ARRAY[p_project], m.login FROM unnest(v_members) AS m (login);
    DELETE FROM ctl.project WHERE project = p_project; -- grants and members go with it
    INSERT INTO ctl.ledger (event, requirements, who, reason)
    VALUES ('project-deleted', ARRAY[p_project, p.purpose, coalesce(p.until::text, 'no end')], btrim(p_who),
            btrim(p_reason));
    RETURN v_members;
END $$;

-- Whether any version of a note is of this site and type; NULL means any.
CREATE OR REPLACE FUNCTION ctl.holds_notes(p_site text, p_note_type text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT 1 FROM research.note_version v
                   WHERE (p_site IS NULL OR v.site = p_site) AND (p_note_type IS NULL OR v.note_type = p_note_type))
$$;
