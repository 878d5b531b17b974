-- What the privacy officer does: answers for a requirement, retracts a note, grants a project, records opt-outs.

-- Records that someone takes responsibility for a requirement that is not met, for one delivery or a whole feed.
CREATE OR REPLACE FUNCTION ctl.waive(
    p_delivery text, p_feed text, p_requirement text, p_who text, p_reason text, p_until date
) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_id bigint;
BEGIN
    IF num_nonnulls(p_delivery, p_feed) <> 1 THEN
        RAISE EXCEPTION 'scope' USING ERRCODE = 'DG003';
    ELSIF coalesce(btrim(p_who), '') = '' THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG003';
    ELSIF p_reason IS NULL OR length(btrim(p_reason)) < 10 THEN
        RAISE EXCEPTION 'reason' USING ERRCODE = 'DG003';
    ELSIF p_until IS NULL OR p_until <= current_date THEN
        RAISE EXCEPTION 'until' USING ERRCODE = 'DG003';
    ELSIF NOT EXISTS (
        SELECT 1 FROM ctl.requirement r JOIN ctl.profile p ON p.name = r.profile AND p.active
        WHERE r.requirement = p_requirement AND r.waivable) THEN
        RAISE EXCEPTION 'requirement' USING ERRCODE = 'DG003';
    END IF;
    INSERT INTO ctl.waiver (delivery, feed, requirement, who, reason, until)
    VALUES (p_delivery, p_feed, p_requirement, btrim(p_who), btrim(p_reason), p_until)
    RETURNING id INTO v_id;
    INSERT INTO ctl.ledger (event, delivery, requirements, counts)
    VALUES ('waived', p_delivery, ARRAY[p_requirement], jsonb_build_object('waiver', v_id));
    RETURN v_id;
END $$;

-- Hides a note in which a reader found an identifier, in every release at once, and every other note in which the
-- same string stands as words of its own; with more than p_limit of those the string is no name, and they are counted
-- alone. From then on nothing that was measured before counts at the gate.
-- The string goes back to the caller, who seals it in the PHI zone; here it is only ever a variable.
CREATE OR REPLACE FUNCTION ctl.retract(
    p_keys text[], p_start integer, p_end integer, p_label text, p_who text, p_limit integer,
    OUT finding bigint, OUT feed text, OUT string text, OUT releases integer, OUT matches integer, OUT hidden integer
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v research.note_version;
    v_pattern text;
BEGIN
    IF coalesce(btrim(p_who), '') = '' THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG003';
    END IF;
    -- No promotion in between: what passes after this passes knowing of it.
    PERFORM pg_advisory_xact_lock(hashtextextended('deid release', 0));
    SELECT n.* INTO v FROM research.note_version n JOIN ctl.release r ON r.release = n.release
    WHERE n.note_key = ANY (p_keys)
    ORDER BY r.active DESC, r.created_at DESC, n.delivery_seq DESC LIMIT 1;
    IF v.note_key IS NULL THEN
        RAISE EXCEPTION 'no such note' USING ERRCODE = 'DG005';
    END IF;
    string := substring(v.text FROM p_start + 1 FOR p_end - p_start);
    IF p_start < 0 OR p_end <= p_start OR p_end > length(v.text) OR string !~ '\w' THEN
        RAISE EXCEPTION 'span' USING ERRCODE = 'DG005';
    END IF;
    -- Half a word would neither be found in other notes nor by the next leak check: the words that it cuts belong to it.
    IF string ~ '^\w' THEN
        p_start := p_start - length(substring(left(v.text, p_start) FROM '\w*$'));
    END IF;
    IF string ~ '\w$' THEN
        p_end := p_end + length(substring(substring(v.text FROM p_end + 1) FROM '^\w*'));
    END IF;
    string := btrim(substring(v.text FROM p_start + 1 FOR p_end - p_start), E' \t\r\n');
    feed := v.feed;
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
        INSERT INTO ctl.finding (who, label, release, feed, note_key, span_start, span_end, releases, matches, hidden)
        SELECT btrim(p_who), p_label, v.release, v.feed, v.note_key, p_start, p_end, c.releases, c.matches,
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

-- The whole list of patients who take no part in research, as it is now: keys under every secret that is in use.
CREATE OR REPLACE FUNCTION ctl.set_opt_outs(p_keys text[], OUT added integer, OUT removed integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    LOCK TABLE research.opted_out IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM research.opted_out o WHERE o.patient_key <> ALL (p_keys);
    GET DIAGNOSTICS removed = ROW_COUNT;
    INSERT INTO research.opted_out (patient_key) SELECT DISTINCT k.key FROM unnest(p_keys) AS k (key)
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

CREATE OR REPLACE FUNCTION ctl.grant_project(p_project text, p_site text, p_note_type text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ctl.project p WHERE p.project = p_project) THEN
        RAISE EXCEPTION 'no such project' USING ERRCODE = 'DG006';
    END IF;
    INSERT INTO ctl.project_grant (project, site, note_type) VALUES (p_project, p_site, p_note_type)
    ON CONFLICT DO NOTHING;
    INSERT INTO ctl.ledger (event, requirements)
    VALUES ('project-granted', ARRAY[p_project, coalesce(p_site, '*'), coalesce(p_note_type, '*')]);
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
