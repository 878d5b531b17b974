-- The gate. These functions run as the owner, whom nobody can log in as; every name in them is qualified and
-- their search_path is fixed, so that nothing a caller makes can stand in for what they mean.

-- How each requirement of the active profile stands for the content that p_digest names. The newest row of the
-- same content, detector, inputs and profile counts. A waiver, while in date, covers a waivable requirement that was
-- measured and not met; nobody can answer for what was never measured.
CREATE FUNCTION ctl.gate_state(p_delivery text, p_digest text)
RETURNS TABLE (requirement text, waivable boolean, state text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.requirement, r.waivable,
           CASE WHEN g.passed THEN 'passed'
                WHEN g.passed IS NOT NULL AND r.waivable AND EXISTS (
                    SELECT 1 FROM ctl.waiver w
                    WHERE w.requirement = r.requirement AND w.until >= current_date
                      AND (w.delivery = d.delivery OR w.feed = d.feed)) THEN 'waived'
                WHEN g.passed IS NOT NULL THEN 'failed'
                ELSE 'missing' END
    FROM ctl.delivery d
    CROSS JOIN ctl.profile p
    JOIN ctl.requirement r ON r.profile = p.name
    LEFT JOIN LATERAL (
        SELECT g.passed FROM ctl.gate g
        WHERE g.delivery = d.delivery AND g.requirement = r.requirement AND g.staged_digest = p_digest
          AND g.detector_digest = d.detector_digest AND g.inputs = d.inputs AND g.profile = p.name
        ORDER BY g.id DESC LIMIT 1) g ON true
    WHERE d.delivery = p_delivery AND p.active
$$;

-- Whether the staged rows are what the delivery announced: its feed, place, release, detector, policy and key
-- in every row, and its numbers. The gate sees to this itself; no role's word is taken for it.
CREATE FUNCTION ctl.staged_as_announced(p_delivery text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (c.clean, c.quarantined, c.withdrawn, c.withdrawn_patients)
             = (d.clean, d.quarantined, d.withdrawn, d.withdrawn_patients)
       AND NOT EXISTS (
           SELECT 1 FROM staging.note n
           WHERE n.delivery = d.delivery
             AND (n.feed, n.delivery_seq, n.release, n.detector_digest, n.policy_digest, n.key_id)
                 IS DISTINCT FROM (d.feed, d.delivery_seq, d.release, r.detector_digest, r.policy_digest, r.key_id))
    FROM ctl.delivery d
    JOIN ctl.release r ON r.release = d.release AND r.detector_digest = d.detector_digest
    CROSS JOIN LATERAL ctl.staged_counts(d.delivery) c
    WHERE d.delivery = p_delivery
$$;

-- Writes the tombstones of a staged delivery. Not granted to anyone: hide and promote call it.
CREATE FUNCTION ctl.bury(p_delivery text, OUT notes integer, OUT patients integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    d ctl.delivery;
BEGIN
    SELECT * INTO STRICT d FROM ctl.delivery WHERE delivery = p_delivery;
    INSERT INTO research.note_version AS v (
        release, feed, note_key, delivery_seq, delivery, patient_key, provider_key, encounter_key, site, note_type,
        note_year, shifted_date, language, status, detector_digest, dictionary_digest, policy_digest, key_id,
        run_id, content_digest)
    SELECT d.release, d.feed, n.note_key, d.delivery_seq, d.delivery, n.patient_key, n.provider_key,
           n.encounter_key, n.site, n.note_type, n.note_year, n.shifted_date, n.language, n.status,
           n.detector_digest, n.dictionary_digest, n.policy_digest, n.key_id, n.run_id, n.content_digest
    FROM staging.note n
    WHERE n.delivery = d.delivery AND n.status IN ('quarantined', 'withdrawn')
    ON CONFLICT (release, feed, note_key, delivery_seq) DO UPDATE
        SET status = EXCLUDED.status, text = NULL, run_id = EXCLUDED.run_id, promoted_at = clock_timestamp()
        WHERE v.status <> EXCLUDED.status;
    GET DIAGNOSTICS notes = ROW_COUNT;
    INSERT INTO research.withdrawn_patient (patient_key, delivery)
    SELECT w.patient_key, d.delivery FROM staging.withdrawn_patient w WHERE w.delivery = d.delivery
    ON CONFLICT (patient_key) DO NOTHING;
    GET DIAGNOSTICS patients = ROW_COUNT;
    INSERT INTO ctl.publication AS p (release, delivery, state) VALUES (d.release, d.delivery, 'hidden')
    ON CONFLICT (release, delivery) DO UPDATE
        -- What was copied before is no longer all there: the next promotion copies anew.
        SET staged_digest = NULL WHERE notes > 0;
END $$;

-- The locks that promotion, hiding and activation share, always in this order: the feed's, then the release's.
CREATE FUNCTION ctl.lock_delivery(p_delivery text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_feed text;
BEGIN
    SELECT d.feed INTO v_feed FROM ctl.delivery d WHERE d.delivery = p_delivery;
    IF v_feed IS NULL THEN
        RAISE EXCEPTION '%', left(p_delivery, 60) USING ERRCODE = 'DG002';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('deid feed ' || v_feed, 0));
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('deid release', 0));
    -- Nothing may be staged between the digest and the copy, not even by a loader that asks for no lock.
    LOCK TABLE staging.note, staging.withdrawn_patient IN SHARE MODE;
END $$;

-- Hides what a delivery quarantined or withdrew. Needs no gate: it only ever takes away.
CREATE FUNCTION ctl.hide(p_delivery text, OUT notes integer, OUT patients integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10min' AS $$
BEGIN
    PERFORM ctl.lock_delivery(p_delivery);
    SELECT b.notes, b.patients INTO hide.notes, hide.patients FROM ctl.bury(p_delivery) b;
    INSERT INTO ctl.ledger (event, delivery, release, counts)
    SELECT 'hidden', p_delivery, d.release, jsonb_build_object('notes', hide.notes, 'patients', hide.patients)
    FROM ctl.delivery d WHERE d.delivery = p_delivery;
END $$;

-- Publishes a staged delivery if the gate allows it. Either way the tombstones take effect and the ledger tells
-- what happened; a refusal is a result, not an error, because an error would undo both.
CREATE FUNCTION ctl.promote(
    p_delivery text, OUT outcome text, OUT approved integer, OUT hidden integer, OUT missing text[], OUT waived text[]
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10min' AS $$
DECLARE
    d ctl.delivery;
    v_digest text;
    v_buried integer;
BEGIN
    PERFORM ctl.lock_delivery(p_delivery);
    SELECT * INTO STRICT d FROM ctl.delivery WHERE delivery = p_delivery;
    approved := 0;
    SELECT b.notes INTO v_buried FROM ctl.bury(p_delivery) b;
    hidden := v_buried;

    v_digest := ctl.staged_digest(p_delivery);
    SELECT array_agg(g.requirement ORDER BY g.requirement) FILTER (WHERE g.state IN ('missing', 'failed')),
           coalesce(array_agg(g.requirement ORDER BY g.requirement) FILTER (WHERE g.state = 'waived'), '{}'),
           -- No active profile, or one that demands nothing, is no gate at all.
           CASE WHEN count(*) = 0 THEN 'unconfigured' ELSE 'promoted' END
    INTO missing, waived, outcome
    FROM ctl.gate_state(p_delivery, v_digest) g;
    missing := coalesce(missing, '{}');
    IF outcome = 'unconfigured' THEN
        missing := missing || 'profile'::text;
    END IF;
    IF ctl.staged_as_announced(p_delivery) IS NOT TRUE THEN
        missing := missing || 'staged_as_announced'::text;
    END IF;
    IF cardinality(missing) > 0 THEN
        outcome := 'refused';
        UPDATE ctl.delivery SET state = 'refused', at = clock_timestamp(), actor = session_user
        WHERE delivery = p_delivery;
        INSERT INTO ctl.ledger (event, delivery, release, requirements, counts)
        VALUES ('refused', p_delivery, d.release, missing, jsonb_build_object('hidden', hidden));
        RETURN;
    END IF;

    IF EXISTS (SELECT 1 FROM ctl.publication p WHERE p.release = d.release AND p.delivery = p_delivery
               AND p.state = 'promoted' AND p.staged_digest = v_digest) THEN
        outcome := 'unchanged';
        UPDATE ctl.delivery SET state = 'promoted' WHERE delivery = p_delivery AND state <> 'promoted';
        RETURN;
    END IF;

    DELETE FROM research.note_version v
    WHERE v.release = d.release AND v.feed = d.feed AND v.delivery_seq = d.delivery_seq;
    INSERT INTO research.note_version (
        release, feed, note_key, delivery_seq, delivery, patient_key, provider_key, encounter_key, site, note_type,
        note_year, shifted_date, language, text, status, detector_digest, dictionary_digest, policy_digest, key_id,
        run_id, content_digest)
    SELECT d.release, d.feed, n.note_key, d.delivery_seq, d.delivery, n.patient_key, n.provider_key,
           n.encounter_key, n.site, n.note_type, n.note_year, n.shifted_date, n.language, n.text,
           CASE n.status WHEN 'clean' THEN 'approved' ELSE n.status END,
           n.detector_digest, n.dictionary_digest, n.policy_digest, n.key_id, n.run_id, n.content_digest
    FROM staging.note n WHERE n.delivery = p_delivery;
    approved := d.clean;
    hidden := d.quarantined + d.withdrawn;
    INSERT INTO ctl.publication (release, delivery, state, staged_digest, approved, quarantined, withdrawn)
    VALUES (d.release, p_delivery, 'promoted', v_digest, d.clean, d.quarantined, d.withdrawn)
    ON CONFLICT (release, delivery) DO UPDATE SET
        state = 'promoted', staged_digest = EXCLUDED.staged_digest, approved = EXCLUDED.approved,
        quarantined = EXCLUDED.quarantined, withdrawn = EXCLUDED.withdrawn,
        actor = session_user, at = clock_timestamp();
    UPDATE ctl.delivery SET state = 'promoted', at = clock_timestamp(), actor = session_user
    WHERE delivery = p_delivery;
    INSERT INTO ctl.ledger (event, delivery, release, requirements, counts)
    VALUES ('promoted', p_delivery, d.release, waived,
            jsonb_build_object('approved', d.clean, 'quarantined', d.quarantined, 'withdrawn', d.withdrawn));
END $$;

-- Switches what analysts see to another release, if that loses nothing: each delivery promoted in the active one
-- must be promoted there, and each whose tombstones took effect must have had them take effect there too.
CREATE FUNCTION ctl.activate_release(p_release text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_active text;
    v_lost text[];
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('deid release', 0));
    SELECT r.release INTO v_active FROM ctl.release r WHERE r.active;
    IF v_active = p_release THEN
        RETURN false;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM ctl.publication p WHERE p.release = p_release AND p.state = 'promoted') THEN
        RAISE EXCEPTION 'nothing promoted' USING ERRCODE = 'DG004';
    END IF;
    SELECT array_agg(a.delivery ORDER BY a.delivery) INTO v_lost
    FROM ctl.publication a
    WHERE a.release = v_active AND NOT EXISTS (
        SELECT 1 FROM ctl.publication b
        WHERE b.release = p_release AND b.delivery = a.delivery AND (b.state = 'promoted' OR a.state = 'hidden'));
    IF v_lost IS NOT NULL THEN
        RAISE EXCEPTION 'not promoted there: %', array_to_string(v_lost, ', ') USING ERRCODE = 'DG004';
    END IF;
    UPDATE ctl.release SET active = false WHERE active;
    UPDATE ctl.release SET active = true, activated_at = clock_timestamp() WHERE release = p_release;
    INSERT INTO ctl.ledger (event, release) VALUES ('activated', p_release);
    RETURN true;
END $$;

-- Records that someone takes responsibility for a requirement that is not met, for one delivery or a whole feed.
CREATE FUNCTION ctl.waive(
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
