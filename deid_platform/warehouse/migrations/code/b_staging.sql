-- Into staging: what is announced, what arrived, and the digest by which the gate knows it again.

-- Which classes of dates there are (`redaction/policy.py`): a word more makes no row of a table another one, so that it is
-- code. Both sets of shifts are classes, since a patient has one shift in each; `given` are offsets from outside.
ALTER TABLE ctl.release DROP CONSTRAINT IF EXISTS release_dates_check,
    ADD CONSTRAINT release_dates_check CHECK (dates IN ('true', 'shift', 'season', 'given', 'year', 'none'));

-- Refuses a release whose dates are of another class than those of a release under the same secret that ever showed
-- or was about to show notes. Keys are the same in both, so that whoever keeps the one could tell from the other how far
-- a patient's dates were moved. One whose class is not known is like no other, but for those of the very same policy.
CREATE OR REPLACE FUNCTION ctl.refuse_other_dates(p_release text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM ctl.release r JOIN ctl.release o
        ON o.key_id = r.key_id AND o.release <> r.release
        AND (r.dates <> o.dates
             OR ((r.dates IS NULL OR o.dates IS NULL) AND r.policy_digest <> o.policy_digest))
        WHERE r.release = p_release
          AND (o.activated_at IS NOT NULL OR o.expired_at IS NOT NULL
               OR EXISTS (SELECT 1 FROM ctl.publication p WHERE p.release = o.release AND p.approved > 0))
    ) THEN
        RAISE EXCEPTION '%', p_release USING ERRCODE = 'DG007';
    END IF;
END $$;

-- Opens a staging: says what is about to come. Takes the feed's lock first, as promotion does.
CREATE OR REPLACE FUNCTION ctl.begin_staging(
    p_delivery text, p_feed text, p_delivery_seq bigint, p_release text, p_detector text, p_detector_digest text,
    p_policy text, p_policy_digest text, p_key_id text, p_inputs text, p_demonstration boolean, p_run_id text,
    p_clean integer, p_quarantined integer, p_withdrawn integer, p_rejoined integer, p_limited boolean,
    p_dates text
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM ctl.lock_feed(p_feed);
    INSERT INTO ctl.release AS r (release, detector, detector_digest, policy, policy_digest, key_id, limited, dates)
    VALUES (p_release, p_detector, p_detector_digest, p_policy, p_policy_digest, p_key_id, p_limited, p_dates)
    ON CONFLICT (release) DO UPDATE SET detector = EXCLUDED.detector, policy = EXCLUDED.policy
        WHERE (r.detector, r.policy) = ('', '');
    PERFORM 1 FROM ctl.release r
    WHERE r.release = p_release AND r.detector_digest = p_detector_digest
      AND r.policy_digest = p_policy_digest AND r.key_id = p_key_id AND r.limited = p_limited
      AND (r.dates = p_dates OR r.dates IS NULL);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'mixture: %', p_release USING ERRCODE = 'DG004';
    END IF;
    -- Withdrawals show nothing, and wait for nobody who has to rotate a secret.
    IF p_clean + p_quarantined > 0 THEN
        PERFORM ctl.refuse_other_dates(p_release);
    END IF;
    INSERT INTO ctl.delivery AS d (
        delivery, feed, delivery_seq, release, detector_digest, inputs, demonstration, run_id,
        clean, quarantined, withdrawn, rejoined, state)
    VALUES (
        p_delivery, p_feed, p_delivery_seq, p_release, p_detector_digest, p_inputs, p_demonstration, p_run_id,
        p_clean, p_quarantined, p_withdrawn, p_rejoined, 'staging')
    ON CONFLICT (delivery) DO UPDATE SET
        feed = EXCLUDED.feed, delivery_seq = EXCLUDED.delivery_seq, release = EXCLUDED.release,
        detector_digest = EXCLUDED.detector_digest, inputs = EXCLUDED.inputs,
        demonstration = EXCLUDED.demonstration, run_id = EXCLUDED.run_id, clean = EXCLUDED.clean,
        quarantined = EXCLUDED.quarantined, withdrawn = EXCLUDED.withdrawn, rejoined = EXCLUDED.rejoined,
        state = 'staging', staged_digest = NULL, actor = session_user, at = clock_timestamp();
END $$;

-- The digest of all that is staged for a delivery: what was announced, every row, every withdrawal. Not the run:
-- the same content from another run is the same content.
-- A row is digested in its text form, which tells NULL from '' and one column from the next; the rows are
-- digested in the order of their keys; each of the three parts has a fixed width.
CREATE OR REPLACE FUNCTION ctl.staged_digest(p_delivery text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD' AS $$
    SELECT encode(sha256(
        sha256(convert_to(ROW(
            d.delivery, d.feed, d.delivery_seq, d.release, d.detector_digest, d.inputs, d.demonstration,
            d.clean, d.quarantined, d.withdrawn, d.rejoined)::text, 'UTF8'))
        || sha256(coalesce((
            SELECT string_agg(sha256(convert_to(ROW(
                n.feed, n.delivery_seq, n.note_key, n.patient_key, n.provider_key, n.encounter_key, n.site,
                n.note_type, n.note_year, n.shifted_date, n.shift_key, n.language, n.status, n.detector_digest,
                n.dictionary_digest, n.policy_digest, n.key_id, n.release, n.content_digest, n.former_keys,
                encode(sha256(convert_to(n.text, 'UTF8')), 'hex'))::text, 'UTF8')), ''::bytea
                ORDER BY n.note_key)
            FROM staging.note n WHERE n.delivery = d.delivery), ''::bytea))
        || sha256(coalesce((
            SELECT string_agg(sha256(convert_to(
                ROW(w.feed, w.delivery_seq, w.kind, w.key, w.former_keys)::text, 'UTF8')), ''::bytea
                ORDER BY w.kind, w.key)
            FROM staging.withdrawal w WHERE w.delivery = d.delivery), ''::bytea))
    ), 'hex')
    FROM ctl.delivery d WHERE d.delivery = p_delivery
$$;

CREATE OR REPLACE FUNCTION ctl.staged_counts(
    p_delivery text, OUT clean integer, OUT quarantined integer, OUT withdrawn integer, OUT rejoined integer
) LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT n.clean, n.quarantined, w.withdrawn, w.rejoined
    FROM (SELECT count(*) FILTER (WHERE status = 'clean')::integer AS clean,
                 count(*) FILTER (WHERE status = 'quarantined')::integer AS quarantined
          FROM staging.note WHERE delivery = p_delivery) n,
         (SELECT count(*) FILTER (WHERE kind <> 'rejoined')::integer AS withdrawn,
                 count(*) FILTER (WHERE kind = 'rejoined')::integer AS rejoined
          FROM staging.withdrawal WHERE delivery = p_delivery) w
$$;

-- Closes a staging: the server itself digests and counts what arrived.
CREATE OR REPLACE FUNCTION ctl.finish_staging(
    p_delivery text, OUT staged_digest text, OUT clean integer, OUT quarantined integer, OUT withdrawn integer,
    OUT rejoined integer
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    finish_staging.staged_digest := ctl.staged_digest(p_delivery);
    IF finish_staging.staged_digest IS NULL THEN
        RAISE EXCEPTION '%', p_delivery USING ERRCODE = 'DG002';
    END IF;
    SELECT c.clean, c.quarantined, c.withdrawn, c.rejoined
    INTO finish_staging.clean, finish_staging.quarantined, finish_staging.withdrawn, finish_staging.rejoined
    FROM ctl.staged_counts(p_delivery) c;
    UPDATE ctl.delivery d
    SET state = 'staged', staged_digest = finish_staging.staged_digest, actor = session_user, at = clock_timestamp()
    WHERE d.delivery = p_delivery;
    INSERT INTO ctl.ledger (event, delivery, release, counts)
    SELECT 'staged', p_delivery, d.release, jsonb_build_object(
        'clean', finish_staging.clean, 'quarantined', finish_staging.quarantined,
        'withdrawn', finish_staging.withdrawn, 'rejoined', finish_staging.rejoined)
    FROM ctl.delivery d WHERE d.delivery = p_delivery;
END $$;
