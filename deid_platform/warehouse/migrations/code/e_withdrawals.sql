-- Withdrawals ahead of their delivery's run. They only take away and need no measurement, so they wait for none: no
-- function here takes a lock that a reader, a build of the marts, a staging or a promotion holds.

-- When what is staged for a delivery was staged; NULL if nothing ever was.
CREATE OR REPLACE FUNCTION ctl.staged_at(p_delivery text) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT max(l.at) FROM ctl.ledger l WHERE l.delivery = p_delivery AND l.event = 'staged'
$$;

-- Hides what the files of a delivery withdraw, all of it as they say it now, in every release. Returns how many keys it
-- had to add. Not added is what was said since the delivery was staged last, and what its last promotion said; while one
-- is under way, that one may be about to take back what an older file said.
CREATE OR REPLACE FUNCTION ctl.withdraw(
    p_delivery text, p_feed text, p_delivery_seq bigint, p_marker text, p_kinds text[], p_keys text[], p_key_ids text[]
) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    v_staged_at timestamptz := coalesce(ctl.staged_at(p_delivery), '-infinity');
    v_promoted boolean := EXISTS (
        SELECT 1 FROM ctl.delivery d WHERE d.delivery = p_delivery AND d.state = 'promoted');
    v_added integer;
BEGIN
    -- Otherwise the caller could go by how things stood before a staging.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'isolation' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    INSERT INTO research.arrived_withdrawal (kind, key, feed, delivery_seq, delivery, key_id)
    SELECT DISTINCT k.kind, k.key, p_feed, p_delivery_seq, p_delivery, k.key_id
    FROM unnest(p_kinds, p_keys, p_key_ids) AS k (kind, key, key_id)
    WHERE NOT EXISTS (
          SELECT 1 FROM research.arrived_withdrawal a
          WHERE a.kind = k.kind AND a.key = k.key AND a.delivery = p_delivery AND a.at > v_staged_at)
      AND NOT (v_promoted AND EXISTS (
          SELECT 1 FROM research.withdrawal w
          WHERE w.kind = k.kind AND w.key = k.key AND w.feed = p_feed AND w.delivery_seq = p_delivery_seq))
    ORDER BY k.kind, k.key;
    GET DIAGNOSTICS v_added = ROW_COUNT;
    PERFORM ctl.mark_read(p_delivery, p_marker);
    IF v_added > 0 THEN
        INSERT INTO ctl.ledger (event, delivery, counts)
        VALUES ('withdrawn', p_delivery, jsonb_build_object('keys', v_added));
    END IF;
    RETURN v_added;
END $$;

-- Notes what was read of a place that says who leaves, and tells what was.
CREATE OR REPLACE FUNCTION ctl.mark_read(p_source text, p_marker text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
    INSERT INTO research.withdrawal_source (source, marker) VALUES (p_source, p_marker)
    ON CONFLICT (source) DO UPDATE SET marker = EXCLUDED.marker
$$;
CREATE OR REPLACE FUNCTION ctl.marked_read() RETURNS TABLE (source text, marker text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.source, s.marker FROM research.withdrawal_source s
$$;

-- Ends what was said ahead of a delivery's staging, whose own withdrawals hold from now on. What was said since stays:
-- the staged rows may come from older files. So does what was said since the gatekeeper compared them with the sources:
-- it could not know of it, and the very same rows may have been staged again. Under another secret than the staging's
-- nobody can take a withdrawal back, so there it stays for good. Not granted to anyone: promote calls it.
CREATE OR REPLACE FUNCTION ctl.settle_withdrawals(p_delivery text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_before timestamptz := least(ctl.staged_at(p_delivery), coalesce((
        SELECT max(g.at) FROM ctl.gate g JOIN ctl.delivery d ON d.delivery = g.delivery AND d.staged_digest = g.staged_digest
        WHERE g.delivery = p_delivery AND g.requirement = 'parity' AND g.passed), '-infinity'));
BEGIN
    INSERT INTO research.withdrawal (kind, key, feed, delivery_seq, delivery)
    SELECT a.kind, a.key, a.feed, a.delivery_seq, a.delivery
    FROM research.arrived_withdrawal a
    JOIN ctl.delivery d ON d.delivery = a.delivery
    JOIN ctl.release r ON r.release = d.release
    WHERE a.delivery = p_delivery AND a.at < v_before AND a.key_id <> r.key_id
    ON CONFLICT DO NOTHING;
    DELETE FROM research.arrived_withdrawal a WHERE a.delivery = p_delivery AND a.at < v_before;
END $$;

-- Deliveries of which something was withdrawn ahead of their run: they are not promoted as their files stand.
CREATE OR REPLACE FUNCTION ctl.withdrawn_ahead() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT a.delivery FROM research.arrived_withdrawal a
$$;
