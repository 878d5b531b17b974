-- What the privacy officer does: answers for a requirement, grants a project, records opt-outs. Findings: d_findings.sql.

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
    END IF;
    PERFORM ctl.require_who_and_why(p_who, p_reason);
    IF p_until IS NULL OR p_until <= CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date) THEN
        RAISE EXCEPTION 'until' USING ERRCODE = 'DG003';
    END IF;
    INSERT INTO ctl.waiver (delivery, feed, requirement, who, reason, until)
    VALUES (p_delivery, p_feed, p_requirement, ctl.trimmed(p_who), ctl.trimmed(p_reason), p_until)
    RETURNING id INTO v_id;
    INSERT INTO ctl.ledger (event, delivery, requirements, counts, who, reason)
    VALUES ('waived', p_delivery, ARRAY[p_requirement], jsonb_build_object('waiver', v_id), ctl.trimmed(p_who),
            ctl.trimmed(p_reason));
    RETURN v_id;
END $$;

-- Ends a waiver before its last day. Returns its requirement.
CREATE OR REPLACE FUNCTION ctl.end_waiver(p_waiver bigint, p_who text, p_reason text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    w ctl.waiver;
BEGIN
    PERFORM ctl.require_who_and_why(p_who, p_reason);
    -- No promotion in between: what passes after this passes without the waiver.
    PERFORM ctl.lock_releases();
    SELECT * INTO w FROM ctl.waiver WHERE id = p_waiver;
    IF w.id IS NULL OR w.until < CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date) OR EXISTS (
        SELECT 1 FROM ctl.waiver_end e WHERE e.waiver = w.id) THEN
        RAISE EXCEPTION 'no waiver of that number is in force' USING ERRCODE = 'DG008';
    END IF;
    INSERT INTO ctl.waiver_end (waiver, who, reason) VALUES (w.id, ctl.trimmed(p_who), ctl.trimmed(p_reason));
    INSERT INTO ctl.ledger (event, delivery, requirements, counts, who, reason)
    VALUES ('waiver-ended', w.delivery, ARRAY[w.requirement], jsonb_build_object('waiver', w.id), ctl.trimmed(p_who),
            ctl.trimmed(p_reason));
    RETURN w.requirement;
END $$;

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
    PERFORM ctl.require_who_and_why(p_who, p_reason);
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
    VALUES ('project-deleted', ARRAY[p_project, p.purpose, coalesce(p.until::text, 'no end')], ctl.trimmed(p_who),
            ctl.trimmed(p_reason));
    RETURN v_members;
END $$;

-- Whether any version of a note is of this site and type; NULL means any.
CREATE OR REPLACE FUNCTION ctl.holds_notes(p_site text, p_note_type text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT 1 FROM research.note_version v
                   WHERE (p_site IS NULL OR v.site = p_site) AND (p_note_type IS NULL OR v.note_type = p_note_type))
$$;
