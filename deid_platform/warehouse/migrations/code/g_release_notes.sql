-- What a release brings those who read the former one, in counts that may be handed to them.

-- A count as readers may see it: none under 11, else rounded down to tens. The same rule as in the marts.
CREATE OR REPLACE FUNCTION ctl.shown_count(p_count bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN p_count >= 11 THEN p_count - p_count % 10 END
$$;

-- Notes by type: how many the release shows, and how they differ from those that stand in the former one. Each note of the
-- former counts once: withdrawn, retracted, gone otherwise, changed, or the same. What differs is NULL where there is no
-- former release, its texts have expired, or it was made with another secret. Sites are counted apart and added up as they
-- are shown, so that whoever knows all notes of one site learns no small count of another.
CREATE OR REPLACE FUNCTION ctl.release_notes(p_former text, p_release text)
RETURNS TABLE (note_type text, notes bigint, added bigint, changed bigint, withdrawn bigint, retracted bigint, gone bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH comparable AS (
        SELECT count(*) = 2 AND count(DISTINCT r.key_id) = 1 AND bool_and(r.expired_at IS NULL) AS former
        FROM ctl.release r WHERE r.release IN (p_former, p_release)),
    former AS (
        SELECT DISTINCT ON (v.note_key, v.feed) v.note_key, v.feed, v.delivery_seq, v.patient_key, v.site, v.note_type, v.text
        FROM research.note_version v CROSS JOIN comparable c
        WHERE v.release = p_former AND c.former ORDER BY v.note_key, v.feed, v.delivery_seq DESC),
    shown AS (
        SELECT v.note_key, v.feed, v.site, v.note_type, v.text
        FROM research.current_version v WHERE v.release = p_release),
    matched AS (
        SELECT coalesce(s.site, f.site) AS site, coalesce(s.note_type, f.note_type, 'unknown') AS note_type,
               CASE WHEN f.note_key IS NULL THEN 'added'
                    WHEN s.note_key IS NOT NULL THEN CASE WHEN s.text <> f.text THEN 'changed' ELSE 'same' END
                    WHEN EXISTS (SELECT 1 FROM research.withdrawn_patient w WHERE w.patient_key = f.patient_key)
                      OR EXISTS (SELECT 1 FROM research.opted_out o WHERE o.patient_key = f.patient_key)
                      OR EXISTS (
                        SELECT 1 FROM research.tombstone w
                        WHERE w.kind = 'note' AND w.key = f.note_key AND w.feed = f.feed
                          AND w.delivery_seq >= f.delivery_seq) THEN 'withdrawn'
                    WHEN EXISTS (
                        SELECT 1 FROM research.retraction t
                        WHERE t.note_key = f.note_key AND t.feed = f.feed) THEN 'retracted'
                    ELSE 'gone' END AS became,
               s.note_key IS NOT NULL AS is_shown
        FROM former f FULL JOIN shown s ON s.note_key = f.note_key AND s.feed = f.feed),
    part AS (
        SELECT m.note_type, ctl.shown_count(count(*) FILTER (WHERE m.is_shown)) AS notes,
               ctl.shown_count(count(*) FILTER (WHERE m.became = 'added')) AS added,
               ctl.shown_count(count(*) FILTER (WHERE m.became = 'changed')) AS changed,
               ctl.shown_count(count(*) FILTER (WHERE m.became = 'withdrawn')) AS withdrawn,
               ctl.shown_count(count(*) FILTER (WHERE m.became = 'retracted')) AS retracted,
               ctl.shown_count(count(*) FILTER (WHERE m.became = 'gone')) AS gone
        FROM matched m GROUP BY m.site, m.note_type)
    SELECT p.note_type, sum(p.notes)::bigint,
           CASE WHEN c.former THEN sum(p.added)::bigint END, sum(p.changed)::bigint, sum(p.withdrawn)::bigint,
           sum(p.retracted)::bigint, sum(p.gone)::bigint
    FROM part p CROSS JOIN comparable c
    WHERE num_nonnulls(p.notes, p.withdrawn, p.retracted, p.gone) > 0
    GROUP BY p.note_type, c.former ORDER BY p.note_type
$$;
