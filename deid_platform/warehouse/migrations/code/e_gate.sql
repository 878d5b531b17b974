-- The gate. These functions run as the owner, whom nobody can log in as; every name in them is qualified and
-- their search_path is fixed, so that nothing a caller makes can stand in for what they mean.

-- How each requirement of the active profile stands for the content that p_digest names. The newest row of the same
-- content, detector, inputs and profile counts, if whoever measured knew of every finding that is not withdrawn: a leak
-- that someone reported puts all that was measured without it in doubt. What was measured before the delivery hid notes
-- for another content counts neither: staged again, it would show them by the measurements of then. A waiver, while in
-- date and not ended, covers a waivable requirement that was measured and not met; nobody can answer for what was never
-- measured. `gate` is the row that counts, `waiver` the one in force that holds longest, whether or not it is needed.
CREATE OR REPLACE FUNCTION ctl.gate_state(p_delivery text, p_digest text)
RETURNS TABLE (requirement text, waivable boolean, state text, gate bigint, waiver bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.requirement, r.waivable,
           CASE WHEN g.passed THEN 'passed'
                WHEN g.passed IS NOT NULL AND w.id IS NOT NULL THEN 'waived'
                WHEN g.passed IS NOT NULL THEN 'failed'
                ELSE 'missing' END,
           g.id, w.id
    FROM ctl.delivery d
    CROSS JOIN ctl.profile p
    JOIN ctl.requirement r ON r.profile = p.name
    LEFT JOIN LATERAL (
        SELECT g.id, g.passed FROM ctl.gate g
        WHERE g.delivery = d.delivery AND g.requirement = r.requirement AND g.staged_digest = p_digest
          AND g.detector_digest = d.detector_digest AND g.inputs = d.inputs AND g.profile = p.name
          AND NOT EXISTS (
              SELECT 1 FROM ctl.finding f
              WHERE f.id > g.known AND f.id NOT IN (SELECT w.finding FROM ctl.withdrawn_finding w))
          AND NOT EXISTS (
              SELECT 1 FROM ctl.hiding h
              WHERE h.delivery = d.delivery AND h.staged_digest <> p_digest AND h.at > g.at)
        ORDER BY g.id DESC LIMIT 1) g ON true
    LEFT JOIN LATERAL (
        SELECT w.id FROM ctl.waiver w
        WHERE r.waivable AND w.requirement = r.requirement
          AND w.until >= CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date)
          AND NOT EXISTS (SELECT 1 FROM ctl.waiver_end e WHERE e.waiver = w.id)
          AND (w.delivery = d.delivery OR w.feed = d.feed)
        ORDER BY w.until DESC, w.id DESC LIMIT 1) w ON true
    WHERE d.delivery = p_delivery AND p.active
$$;

-- Lets the newest measurements of a content count although a leak was reported since. They stay as old as they are: what
-- was hidden or withdrawn after they were made was not measured.
CREATE OR REPLACE FUNCTION ctl.count_again(p_delivery text, p_digest text, p_profile text, p_known bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO ctl.gate (delivery, requirement, staged_digest, detector_digest, inputs, profile, passed, measured, known, at)
    SELECT g.delivery, g.requirement, g.staged_digest, g.detector_digest, g.inputs, g.profile, g.passed, g.measured,
           p_known, g.at
    FROM (SELECT DISTINCT ON (n.requirement, n.detector_digest, n.inputs) n.* FROM ctl.gate n
          WHERE (n.delivery, n.staged_digest, n.profile) = (p_delivery, p_digest, p_profile)
          ORDER BY n.requirement, n.detector_digest, n.inputs, n.id DESC) g
    WHERE g.known < p_known ORDER BY g.id
$$;

-- Notes that a delivery hides notes, and the content that does not show them.
-- Not granted to anyone: what hides calls it.
CREATE OR REPLACE FUNCTION ctl.note_hiding(p_delivery text, p_digest text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO ctl.hiding (delivery, staged_digest) VALUES (p_delivery, coalesce(p_digest, ''))
    ON CONFLICT (delivery, staged_digest) DO UPDATE SET at = EXCLUDED.at
$$;

-- Whether the staged rows are what the delivery announced: its feed, place, release, detector, policy and key
-- in every row, and its numbers. The gate sees to this itself; no role's word is taken for it.
CREATE OR REPLACE FUNCTION ctl.staged_as_announced(p_delivery text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (c.clean, c.quarantined, c.withdrawn, c.rejoined) = (d.clean, d.quarantined, d.withdrawn, d.rejoined)
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

-- Staged notes with a text in which somebody found an identifier: they are not copied, whatever was measured. The rest
-- of the delivery does not wait for them.
CREATE OR REPLACE FUNCTION ctl.staged_retracted(p_delivery text) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT n.note_key FROM staging.note n
    JOIN research.retraction t ON t.note_key = ANY (n.note_key || n.former_keys) AND t.feed = n.feed
    WHERE n.delivery = p_delivery AND n.status = 'clean'
      AND t.text_digest IN ('', encode(sha256(convert_to(n.text, 'UTF8')), 'hex')) -- empty: whatever it says
$$;

-- Writes the tombstones of a staged delivery: what it withdraws, and every version of it that research does not hold as
-- it is staged. From that version on older ones are not shown, those that are still to come included; it makes no
-- difference whether it is quarantined or only waits for the gate. Not granted to anyone: hide and promote call it.
CREATE OR REPLACE FUNCTION ctl.bury(p_delivery text, OUT notes integer, OUT patients integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    d ctl.delivery;
    v_buried integer;
    v_held integer;
    v_hidden integer;
BEGIN
    SELECT * INTO STRICT d FROM ctl.delivery WHERE delivery = p_delivery;
    WITH buried AS (
        INSERT INTO research.withdrawal (kind, key, feed, delivery_seq, delivery, key_id)
        SELECT s.kind, s.key, d.feed, d.delivery_seq, d.delivery, s.key_id
        FROM ctl.staged_withdrawals(p_delivery) s WHERE s.kind <> 'rejoined'
        ON CONFLICT DO NOTHING
        RETURNING kind, key_id)
    SELECT count(*) FILTER (WHERE b.kind = 'note' AND b.key_id IS NOT NULL),
           count(*) FILTER (WHERE b.kind = 'patient' AND b.key_id IS NOT NULL),
           count(*)
    INTO notes, patients, v_buried FROM buried b;
    WITH held AS (
        INSERT INTO research.held AS h (note_key, feed, release, delivery_seq, delivery, reason)
        SELECT n.note_key, d.feed, d.release, d.delivery_seq, d.delivery,
               CASE n.status WHEN 'clean' THEN 'correction' ELSE n.status END
        FROM staging.note n
        WHERE n.delivery = p_delivery AND (n.status = 'quarantined' OR NOT EXISTS (
            SELECT 1 FROM research.note_version v
            WHERE v.note_key = n.note_key AND v.feed = d.feed AND v.release = d.release
              AND v.delivery_seq = d.delivery_seq AND v.content_digest = n.content_digest))
        UNION ALL -- what another release holds of this delivery, where the source has changed the note since
        SELECT v.note_key, v.feed, v.release, v.delivery_seq, v.delivery, 'correction'
        FROM staging.note n
        JOIN research.note_version v ON v.note_key = n.note_key AND v.feed = d.feed
         AND v.delivery_seq = d.delivery_seq AND v.release <> d.release AND v.content_digest <> n.content_digest
        WHERE n.delivery = p_delivery
        UNION ALL
        SELECT k.former, d.feed, d.release, d.delivery_seq, d.delivery, 'superseded'
        FROM staging.note n CROSS JOIN LATERAL unnest(n.former_keys) AS k (former)
        WHERE n.delivery = p_delivery AND EXISTS (
            SELECT 1 FROM research.note_version v
            WHERE v.note_key = k.former AND v.feed = d.feed AND v.delivery_seq < d.delivery_seq)
        ON CONFLICT (note_key, feed, release, delivery_seq) DO UPDATE SET reason = EXCLUDED.reason
            WHERE h.reason = 'correction' AND EXCLUDED.reason = 'quarantined' AND h.release = d.release
        RETURNING note_key, reason)
    SELECT count(*), count(*) FILTER (WHERE h.reason <> 'correction' OR EXISTS (
        SELECT 1 FROM research.note_version v
        WHERE v.note_key = h.note_key AND v.feed = d.feed AND v.delivery_seq <= d.delivery_seq))
    INTO v_held, v_hidden FROM held h;
    notes := notes + v_hidden;
    IF v_buried + v_held > 0 THEN
        -- What was copied before is no longer all there: the next promotion copies anew.
        UPDATE ctl.publication SET staged_digest = NULL WHERE delivery = p_delivery;
    END IF;
END $$;

-- What a delivery withdraws or lets back in, once for each key that it is known by.
CREATE OR REPLACE FUNCTION ctl.staged_withdrawals(p_delivery text)
RETURNS TABLE (kind text, key text, key_id text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT w.kind, k.key, CASE WHEN k.key = w.key THEN r.key_id END
    FROM staging.withdrawal w
    JOIN ctl.delivery d ON d.delivery = w.delivery
    JOIN ctl.release r ON r.release = d.release
    CROSS JOIN LATERAL unnest(w.key || w.former_keys) AS k (key)
    WHERE w.delivery = p_delivery
$$;

-- One transaction after another for whatever changes a feed's deliveries. The locks are on tables that no role may lock
-- itself: an advisory lock could be taken by any login, which could hold up a withdrawal that way.
CREATE OR REPLACE FUNCTION ctl.lock_feed(p_feed text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- Otherwise the caller could go by how things stood before a finding, a withdrawal or a failed measurement.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'isolation' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    PERFORM 1 FROM ctl.delivery d WHERE d.feed = p_feed ORDER BY d.delivery FOR NO KEY UPDATE;
END $$;

-- Waits until no promotion is under way, and lets none begin: for whatever concerns all releases at once.
CREATE OR REPLACE FUNCTION ctl.lock_releases() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'isolation' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    LOCK TABLE ctl.publication IN SHARE ROW EXCLUSIVE MODE;
END $$;

-- The locks of promotion and hiding, always in this order: the feed's, the releases', the staged rows'.
CREATE OR REPLACE FUNCTION ctl.lock_delivery(p_delivery text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_feed text;
BEGIN
    SELECT d.feed INTO v_feed FROM ctl.delivery d WHERE d.delivery = p_delivery;
    IF v_feed IS NULL THEN
        RAISE EXCEPTION '%', left(p_delivery, 60) USING ERRCODE = 'DG002';
    END IF;
    PERFORM ctl.lock_feed(v_feed);
    LOCK TABLE ctl.publication IN ROW EXCLUSIVE MODE;
    -- Nothing may be staged between the digest and the copy, not even by a loader that asks for no lock.
    LOCK TABLE staging.note, staging.withdrawal IN SHARE MODE;
END $$;

-- Hides what a delivery quarantined or withdrew. Needs no gate: it only ever takes away.
CREATE OR REPLACE FUNCTION ctl.hide(p_delivery text, OUT notes integer, OUT patients integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10min' AS $$
BEGIN
    PERFORM ctl.lock_delivery(p_delivery);
    SELECT b.notes, b.patients INTO hide.notes, hide.patients FROM ctl.bury(p_delivery) b;
    PERFORM ctl.note_hiding(d.delivery, d.staged_digest) FROM ctl.delivery d WHERE d.delivery = p_delivery;
    INSERT INTO ctl.ledger (event, delivery, release, counts)
    SELECT 'hidden', p_delivery, d.release, jsonb_build_object('notes', hide.notes, 'patients', hide.patients)
    FROM ctl.delivery d WHERE d.delivery = p_delivery;
END $$;

-- Hides notes of a delivery in every release until it is staged and promoted anew, but not in a release that holds what
-- was staged with the digest p_but. Needs no gate either. Returns how many were not hidden this way before.
CREATE OR REPLACE FUNCTION ctl.hide_notes(p_delivery text, p_keys text[], p_but text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10min' AS $$
DECLARE
    v_hidden integer;
BEGIN
    -- No promotion in between, which would copy them anew.
    PERFORM ctl.lock_releases();
    PERFORM ctl.note_hiding(p_delivery, p_but);
    WITH held AS (
        INSERT INTO research.held (note_key, feed, release, delivery_seq, delivery, reason)
        SELECT v.note_key, v.feed, v.release, v.delivery_seq, v.delivery, 'correction'
        FROM unnest(p_keys) AS k (key)
        JOIN research.note_version v ON v.note_key = k.key AND v.delivery = p_delivery
        WHERE NOT EXISTS (
            SELECT 1 FROM ctl.publication p
            WHERE p.release = v.release AND p.delivery = v.delivery AND p.staged_digest = p_but)
        ON CONFLICT DO NOTHING
        RETURNING note_key, release),
    told AS ( -- release by release: they have a secret each, and one need not hold what the others do
        INSERT INTO ctl.ledger (event, delivery, release, counts)
        SELECT 'hidden', p_delivery, h.release, jsonb_build_object('notes', count(*)) FROM held h GROUP BY h.release)
    SELECT count(DISTINCT h.note_key) INTO v_hidden FROM held h;
    -- What is staged of them is as old: without it the rest is not what was announced, and no promotion copies it.
    DELETE FROM staging.note n USING ctl.delivery d
    WHERE n.delivery = p_delivery AND n.note_key = ANY (p_keys)
      AND d.delivery = n.delivery AND d.staged_digest IS DISTINCT FROM p_but;
    IF v_hidden > 0 THEN
        UPDATE ctl.publication SET staged_digest = NULL
        WHERE delivery = p_delivery AND (p_but IS NULL OR staged_digest <> p_but);
    END IF;
    RETURN v_hidden;
END $$;

-- Makes research hold of a delivery what is staged of it. Not granted to anyone: promote calls it.
CREATE OR REPLACE FUNCTION ctl.copy(p_delivery text, OUT approved integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    d ctl.delivery;
    v_key_id text;
    v_retracted text[] := ARRAY(SELECT ctl.staged_retracted(p_delivery));
BEGIN
    SELECT * INTO STRICT d FROM ctl.delivery WHERE delivery = p_delivery;
    SELECT r.key_id INTO STRICT v_key_id FROM ctl.release r WHERE r.release = d.release;
    -- A release that expired is made anew, without what is still there of it.
    PERFORM ctl.forget_versions(ARRAY[d.release], 2147483647);
    DELETE FROM research.note_version v
    WHERE v.release = d.release AND v.feed = d.feed AND v.delivery_seq = d.delivery_seq;
    INSERT INTO research.note_version (
        release, feed, note_key, delivery_seq, delivery, patient_key, provider_key, encounter_key, site, note_type,
        note_year, shifted_date, shift_key, language, text, detector_digest, dictionary_digest, policy_digest, key_id,
        run_id, content_digest)
    SELECT d.release, d.feed, n.note_key, d.delivery_seq, d.delivery, n.patient_key, n.provider_key,
           n.encounter_key, n.site, n.note_type, n.note_year, n.shifted_date, n.shift_key, n.language, n.text,
           n.detector_digest, n.dictionary_digest, n.policy_digest, n.key_id, n.run_id, n.content_digest
    FROM staging.note n
    WHERE n.delivery = p_delivery AND n.status = 'clean' AND n.note_key <> ALL (v_retracted)
    -- In the order of keys, which tells nothing. Rows come in as the source orders them, often by date, and a SELECT
    -- returns them as they were written: that order beside shifted dates would tell how far each was moved.
    ORDER BY n.note_key;
    GET DIAGNOSTICS approved = ROW_COUNT;
    -- Who moves with somebody else from now on: notes that were moved otherwise wait until they are made anew.
    INSERT INTO research.shift AS s (release, patient_key, shift_key)
    SELECT DISTINCT d.release, n.patient_key, n.shift_key
    FROM staging.note n
    WHERE n.delivery = p_delivery AND n.status = 'clean' AND n.note_key <> ALL (v_retracted)
      AND n.patient_key IS NOT NULL AND n.shift_key IS NOT NULL
    ORDER BY n.patient_key -- one order for all: two promotions must not wait for each other
    ON CONFLICT (release, patient_key) DO UPDATE SET shift_key = EXCLUDED.shift_key
        WHERE s.shift_key <> EXCLUDED.shift_key;
    -- Not what holds under a former key: the release that knows the note by it stays without the correction.
    DELETE FROM research.held h
    WHERE h.release = d.release AND h.feed = d.feed AND h.delivery_seq = d.delivery_seq AND h.reason <> 'superseded';
    INSERT INTO research.held (note_key, feed, release, delivery_seq, delivery, reason)
    SELECT n.note_key, d.feed, d.release, d.delivery_seq, d.delivery, 'quarantined'
    FROM staging.note n
    WHERE n.delivery = p_delivery AND (n.status = 'quarantined' OR n.note_key = ANY (v_retracted));
    -- Nor a withdrawal under a key that nobody knows any more: nothing would bring it back.
    DELETE FROM research.withdrawal w
    WHERE w.feed = d.feed AND w.delivery_seq = d.delivery_seq
      -- A rejoining that is not said any more must not stand under any key.
      AND (w.key_id = v_key_id OR w.kind = 'rejoined');
    INSERT INTO research.withdrawal (kind, key, feed, delivery_seq, delivery, key_id)
    SELECT s.kind, s.key, d.feed, d.delivery_seq, d.delivery, s.key_id FROM ctl.staged_withdrawals(p_delivery) s
    ON CONFLICT DO NOTHING;
    -- What a delivery withdraws is said once for all releases: where it was said before, the next promotion says it anew.
    UPDATE ctl.publication SET staged_digest = NULL WHERE delivery = p_delivery AND release <> d.release;
    -- A release that expired is made anew by the settings that made it once.
    UPDATE ctl.release SET expired_at = NULL, forgotten_at = NULL, deactivated_at = NULL, created_at = clock_timestamp()
    WHERE release = d.release AND expired_at IS NOT NULL;
    PERFORM ctl.number_keys('note', ARRAY(
        SELECT n.note_key FROM staging.note n WHERE n.delivery = p_delivery AND n.status = 'clean'));
    PERFORM ctl.number_keys('patient', ARRAY(
        SELECT DISTINCT n.patient_key FROM staging.note n WHERE n.delivery = p_delivery AND n.status = 'clean'));
    PERFORM ctl.number_keys('provider', ARRAY(
        SELECT DISTINCT n.provider_key FROM staging.note n WHERE n.delivery = p_delivery AND n.status = 'clean'));
    PERFORM ctl.number_keys('encounter', ARRAY(
        SELECT DISTINCT n.encounter_key FROM staging.note n WHERE n.delivery = p_delivery AND n.status = 'clean'));
END $$;

-- Gives every key its integer, by its hash: a number in the order of arrival would date the note. Two keys that hash
-- alike are told apart by hashing the later one again.
CREATE OR REPLACE FUNCTION ctl.number_keys(p_kind text, p_keys text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_salt bigint := 0;
    v_left text[];
BEGIN
    LOOP
        v_left := ARRAY(
            SELECT k.key FROM unnest(p_keys) AS k (key)
            WHERE k.key IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM research.number n WHERE n.kind = p_kind AND n.key = k.key));
        EXIT WHEN cardinality(v_left) = 0;
        INSERT INTO research.number (kind, key, number)
        SELECT p_kind, k.key, (hashtextextended(k.key, v_salt) & 2147483647)::integer FROM unnest(v_left) AS k (key)
        ORDER BY k.key -- one order for all: two promotions must not wait for each other
        ON CONFLICT DO NOTHING;
        v_salt := v_salt + 1;
    END LOOP;
END $$;

-- Publishes a staged delivery if the gate allows it. Either way the tombstones take effect and the ledger tells
-- what happened; a refusal is a result, not an error, because an error would undo both.
CREATE OR REPLACE FUNCTION ctl.promote(
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
    PERFORM ctl.note_hiding(p_delivery, v_digest);
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

    PERFORM ctl.settle_withdrawals(p_delivery);
    IF EXISTS (SELECT 1 FROM ctl.publication p WHERE p.release = d.release AND p.delivery = p_delivery
               AND p.staged_digest = v_digest) THEN
        outcome := 'unchanged';
        UPDATE ctl.delivery SET state = 'promoted' WHERE delivery = p_delivery AND state <> 'promoted';
        RETURN;
    END IF;

    approved := ctl.copy(p_delivery);
    hidden := d.clean - approved + d.quarantined + d.withdrawn;
    INSERT INTO ctl.publication (release, delivery, staged_digest, approved, quarantined, withdrawn)
    VALUES (d.release, p_delivery, v_digest, approved, d.clean - approved + d.quarantined, d.withdrawn)
    ON CONFLICT (release, delivery) DO UPDATE SET
        staged_digest = EXCLUDED.staged_digest, approved = EXCLUDED.approved, quarantined = EXCLUDED.quarantined,
        withdrawn = EXCLUDED.withdrawn, actor = session_user, at = clock_timestamp();
    UPDATE ctl.delivery SET state = 'promoted', at = clock_timestamp(), actor = session_user
    WHERE delivery = p_delivery;
    INSERT INTO ctl.ledger (event, delivery, release, requirements, counts)
    VALUES ('promoted', p_delivery, d.release, waived, jsonb_build_object(
        'approved', approved, 'quarantined', d.clean - approved + d.quarantined, 'withdrawn', d.withdrawn, 'rejoined', d.rejoined));
END $$;
