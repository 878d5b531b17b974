-- Which release analysts see: switched when the next one is complete, taken back by a person, expired by policy.

-- Makes a release the one that analysts see. Not granted to anyone.
CREATE OR REPLACE FUNCTION ctl.show_release(p_release text, p_withhold boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE ctl.release
    SET active = false, deactivated_at = clock_timestamp(),
        withheld_at = CASE WHEN p_withhold THEN clock_timestamp() END
    WHERE active;
    UPDATE ctl.release
    SET active = true, activated_at = clock_timestamp(), deactivated_at = NULL, withheld_at = NULL
    WHERE release = p_release;
END $$;

-- Deliveries that took something away under another secret and have not been staged under this release's: no key of the
-- one is a key of the other, so that what they withdrew, corrected or quarantined would be shown there.
CREATE OR REPLACE FUNCTION ctl.unheard(p_release text) RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH other AS (
        SELECT o.key_id, max(o.created_at) > r.created_at AS newer
        FROM ctl.release r JOIN ctl.release o ON o.key_id <> r.key_id
        WHERE r.release = p_release GROUP BY o.key_id, r.created_at),
    mine AS (
        SELECT r.release, r.key_id FROM ctl.release r
        WHERE r.key_id = (SELECT t.key_id FROM ctl.release t WHERE t.release = p_release)),
    unheard AS (
        SELECT w.delivery
        FROM research.withdrawal w JOIN other o ON o.key_id = w.key_id
        WHERE w.kind <> 'rejoined' AND NOT EXISTS (
            SELECT 1 FROM research.withdrawal s
            WHERE s.kind = w.kind AND s.feed = w.feed AND s.delivery_seq = w.delivery_seq
              -- A newer secret's staging tells the keys under former ones too.
              AND (s.key_id IN (SELECT m.key_id FROM mine m) OR (s.key_id IS NULL AND o.newer)))
        UNION ALL
        SELECT t.delivery
        FROM (SELECT h.delivery, h.release FROM research.held h WHERE h.reason <> 'superseded'
              UNION ALL SELECT p.delivery, p.release FROM ctl.publication p) t
        JOIN ctl.release l ON l.release = t.release
        JOIN other o ON o.key_id = l.key_id AND NOT o.newer
        JOIN ctl.delivery d ON d.delivery = t.delivery
        WHERE EXISTS ( -- of a feed that is not there it could not correct anything
            SELECT 1 FROM ctl.publication p JOIN ctl.delivery f ON f.delivery = p.delivery
            WHERE p.release = p_release AND f.feed = d.feed)
          AND NOT EXISTS (SELECT 1 FROM ctl.publication p JOIN mine m ON m.release = p.release
                          WHERE p.delivery = t.delivery)
          AND NOT EXISTS (SELECT 1 FROM research.held h JOIN mine m ON m.release = h.release
                          WHERE h.delivery = t.delivery))
    SELECT array_agg(DISTINCT u.delivery ORDER BY u.delivery) FROM unheard u
$$;

-- Switches what analysts see to another release, if that loses nothing: each delivery promoted in the active one
-- must be promoted there. What is withdrawn or on hold holds in every release anyway.
CREATE OR REPLACE FUNCTION ctl.activate_release(p_release text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_active text;
    v_lost text[];
BEGIN
    PERFORM ctl.lock_releases();
    SELECT r.release INTO v_active FROM ctl.release r WHERE r.active;
    IF v_active = p_release THEN
        RETURN false;
    END IF;
    IF EXISTS (SELECT 1 FROM ctl.release r WHERE r.release = p_release AND r.withheld_at IS NOT NULL) THEN
        RAISE EXCEPTION 'withheld' USING ERRCODE = 'DG004';
    END IF;
    IF NOT EXISTS (SELECT 1 FROM ctl.publication p WHERE p.release = p_release) THEN
        RAISE EXCEPTION 'nothing promoted' USING ERRCODE = 'DG004';
    END IF;
    SELECT array_agg(a.delivery ORDER BY a.delivery) INTO v_lost
    FROM ctl.publication a
    WHERE a.release = v_active AND NOT EXISTS (
        SELECT 1 FROM ctl.publication b WHERE b.release = p_release AND b.delivery = a.delivery);
    IF v_lost IS NOT NULL THEN
        RAISE EXCEPTION 'not promoted there: %', array_to_string(v_lost, ', ') USING ERRCODE = 'DG004';
    END IF;
    v_lost := ctl.unheard(p_release);
    IF v_lost IS NOT NULL THEN
        RAISE EXCEPTION 'not staged under its secret: %', array_to_string(v_lost, ', ') USING ERRCODE = 'DG004';
    END IF;
    PERFORM ctl.refuse_other_dates(p_release);
    PERFORM ctl.require_dossier(p_release);
    PERFORM ctl.show_release(p_release, false);
    INSERT INTO ctl.ledger (event, release) VALUES ('activated', p_release);
    RETURN true;
END $$;

-- Switches to a release because a person says so, even if deliveries are missing there: back to an older one, or
-- forward to one that waits for a feed that is gone. After going back, the one that analysts saw is withheld: no refresh
-- shows it again.
CREATE OR REPLACE FUNCTION ctl.switch_release(p_release text, p_who text, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_lost text[];
BEGIN
    PERFORM ctl.lock_releases();
    PERFORM ctl.require_who_and_why(p_who, p_reason);
    IF NOT EXISTS (SELECT 1 FROM ctl.publication p WHERE p.release = p_release) THEN
        RAISE EXCEPTION 'nothing promoted' USING ERRCODE = 'DG004';
    ELSIF EXISTS (SELECT 1 FROM ctl.release r WHERE r.release = p_release AND r.active) THEN
        RAISE EXCEPTION 'active already' USING ERRCODE = 'DG004';
    END IF;
    -- Nobody can answer for showing what was withdrawn.
    v_lost := ctl.unheard(p_release);
    IF v_lost IS NOT NULL THEN
        RAISE EXCEPTION 'not staged under its secret: %', array_to_string(v_lost, ', ') USING ERRCODE = 'DG004';
    END IF;
    -- Nor for showing how far dates were moved.
    PERFORM ctl.refuse_other_dates(p_release);
    PERFORM ctl.require_dossier(p_release);
    PERFORM ctl.show_release(p_release, EXISTS (
        SELECT 1 FROM ctl.release a JOIN ctl.release r ON r.release = p_release AND r.created_at < a.created_at
        WHERE a.active));
    INSERT INTO ctl.ledger (event, release, who, reason) VALUES ('switched', p_release, ctl.trimmed(p_who), ctl.trimmed(p_reason));
END $$;

-- Forgets releases that analysts no longer see: all but the p_keep that were left last, once they were left p_days
-- ago. One that is still being built is younger than the active one and stays. From then on nobody can show one of them;
-- what they hold goes little by little, by ctl.forget_expired. Only texts go.
CREATE OR REPLACE FUNCTION ctl.expire_releases(p_keep integer, p_days integer) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_old text[];
BEGIN
    PERFORM ctl.lock_releases();
    SELECT coalesce(array_agg(o.release ORDER BY o.release), '{}') INTO v_old
    FROM (
        SELECT r.release, coalesce(r.deactivated_at, r.created_at) AS left_at
        FROM ctl.release r
        WHERE NOT r.active AND r.expired_at IS NULL
          AND (r.deactivated_at IS NOT NULL
               OR r.created_at < (SELECT a.created_at FROM ctl.release a WHERE a.active))
        ORDER BY left_at DESC
        OFFSET greatest(p_keep, 0)) o
    WHERE o.left_at <= clock_timestamp() - make_interval(days => greatest(p_days, 0));
    INSERT INTO ctl.ledger (event, release, counts)
    SELECT 'expired', o, jsonb_build_object('versions', coalesce(sum(p.approved), 0), 'releases', cardinality(v_old))
    FROM unnest(v_old) o LEFT JOIN ctl.publication p ON p.release = o GROUP BY o;
    DELETE FROM ctl.publication WHERE release = ANY (v_old);
    UPDATE ctl.release
    SET expired_at = clock_timestamp(), forgotten_at = NULL, forgotten_feed = '', forgotten_note = ''
    WHERE release = ANY (v_old);
    RETURN v_old;
END $$;

-- Removes about the next p_versions of what each of these expired releases holds, and says whether anything is left. They
-- were forgotten up to the same note; a note goes from all of them at once, with all its versions. Rows are found by keys
-- alone: the planner has no statistics and would read all that is left at each step. Up to which note it came is kept, since
-- an index goes on leading to rows that were deleted a moment ago. Not granted to anyone.
CREATE OR REPLACE FUNCTION ctl.forget_versions(p_releases text[], p_versions integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    r ctl.release;
    v_feed text;
    v_note text;
    v_patients text[];
BEGIN
    -- Locked: of two promotions that make it anew, the second must not take what the first one copied.
    SELECT * INTO r FROM ctl.release e
    WHERE e.release = p_releases[1] AND e.expired_at IS NOT NULL AND e.forgotten_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT n.feed, n.note_key INTO v_feed, v_note
    FROM unnest(p_releases) AS e (release) CROSS JOIN LATERAL (
        SELECT v.feed, v.note_key FROM research.note_version v
        WHERE v.release = e.release AND (v.feed, v.note_key) > (r.forgotten_feed, r.forgotten_note)
        ORDER BY v.release, v.feed, v.note_key, v.delivery_seq OFFSET greatest(p_versions, 1) - 1 LIMIT 1) n
    ORDER BY n.feed, n.note_key LIMIT 1;
    -- What was the newest version of a note goes on hiding older ones, in the releases that stay and those to come.
    INSERT INTO research.held (note_key, feed, release, delivery_seq, delivery, reason)
    SELECT v.note_key, v.feed, v.release, v.delivery_seq, v.delivery, 'correction'
    FROM research.note_version v
    WHERE v.release = ANY (p_releases) AND (v.feed, v.note_key) > (r.forgotten_feed, r.forgotten_note)
      AND (v_note IS NULL OR (v.feed, v.note_key) <= (v_feed, v_note))
      AND NOT EXISTS (
        SELECT 1 FROM research.version_key o
        WHERE o.note_key = v.note_key AND o.feed = v.feed
          AND (o.delivery_seq > v.delivery_seq OR (o.delivery_seq = v.delivery_seq AND o.release <> ALL (p_releases))))
    ON CONFLICT DO NOTHING;
    -- What is held there still hides older versions, and what was retracted there may not pass elsewhere: both stay.
    WITH gone AS (
        DELETE FROM research.note_version v
        WHERE v.release = ANY (p_releases) AND (v.feed, v.note_key) > (r.forgotten_feed, r.forgotten_note)
          AND (v_note IS NULL OR (v.feed, v.note_key) <= (v_feed, v_note))
        RETURNING v.patient_key)
    SELECT array_agg(DISTINCT g.patient_key) INTO v_patients FROM gone g;
    DELETE FROM research.shift s WHERE s.release = ANY (p_releases) AND s.patient_key = ANY (v_patients);
    IF v_note IS NULL THEN
        DELETE FROM research.shift s WHERE s.release = ANY (p_releases); -- of patients whose notes had gone before
    END IF;
    UPDATE ctl.release
    SET forgotten_feed = coalesce(v_feed, ''), forgotten_note = coalesce(v_note, ''),
        forgotten_at = CASE WHEN v_note IS NULL THEN clock_timestamp() END
    WHERE release = ANY (p_releases);
    RETURN v_note IS NOT NULL;
END $$;

-- Removes some of what expired releases hold, and says whether anything may be left. Each call is to be a transaction of
-- its own: a retraction waits for one of them, not for all.
CREATE OR REPLACE FUNCTION ctl.forget_expired(p_versions integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_alike text[];
BEGIN
    PERFORM ctl.lock_releases();
    SELECT array_agg(e.release) INTO v_alike FROM ctl.release e
    WHERE e.expired_at IS NOT NULL AND e.forgotten_at IS NULL
    GROUP BY e.forgotten_feed, e.forgotten_note ORDER BY min(e.expired_at) LIMIT 1;
    PERFORM ctl.forget_versions(v_alike, p_versions);
    RETURN EXISTS (SELECT 1 FROM ctl.release r WHERE r.expired_at IS NOT NULL AND r.forgotten_at IS NULL);
END $$;

-- How two releases differ, delivery by delivery: notes that stand in one alone, and those whose text differs. NULL
-- where they were made with different secrets: then no note of one can be told from a note of the other.
CREATE OR REPLACE FUNCTION ctl.diff_releases(p_old text, p_new text)
RETURNS TABLE (delivery text, notes_old bigint, notes_new bigint, only_old bigint, only_new bigint, changed bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH same AS (
        SELECT count(DISTINCT r.key_id) = 1 AS secret FROM ctl.release r WHERE r.release IN (p_old, p_new)),
    matched AS (
        SELECT coalesce(a.delivery, b.delivery) AS delivery, a.note_key AS old, b.note_key AS new, a.text <> b.text AS other
        FROM (SELECT * FROM research.note_version v WHERE v.release = p_old) a
        FULL JOIN (SELECT * FROM research.note_version v WHERE v.release = p_new) b
        ON b.note_key = a.note_key AND b.feed = a.feed AND b.delivery_seq = a.delivery_seq)
    SELECT m.delivery, count(m.old), count(m.new),
           CASE WHEN s.secret THEN count(*) FILTER (WHERE m.new IS NULL) END,
           CASE WHEN s.secret THEN count(*) FILTER (WHERE m.old IS NULL) END,
           CASE WHEN s.secret THEN count(*) FILTER (WHERE m.other) END
    FROM matched m CROSS JOIN same s
    GROUP BY m.delivery, s.secret ORDER BY m.delivery
$$;
