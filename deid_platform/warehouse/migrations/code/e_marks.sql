-- Marks of missed identifiers in released notes: each is open until its note is shown no more, the reviewer takes it back,
-- or an officer says why the note stays.

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.marked_note
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.mark_dismissal
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();

-- Says in which notes marks stand, one note a place of the three arrays; what is known stays.
CREATE OR REPLACE FUNCTION ctl.name_marked(p_missed text[], p_feed text[], p_note_key text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO ctl.marked_note (missed, feed, note_key)
    SELECT DISTINCT n.missed, n.feed, n.note_key FROM unnest(p_missed, p_feed, p_note_key) AS n (missed, feed, note_key)
    ON CONFLICT DO NOTHING
$$;

-- The open marks: in notes of any release that is kept, since each of them can be shown. A note that a retraction hid and
-- that a later run shows again is open again: what was reported in it may have been something else.
CREATE OR REPLACE FUNCTION ctl.open_marks() RETURNS TABLE (
    missed text, note_key text, label text, severity text, round integer, role text, who text, at timestamptz,
    releases text[], shown boolean
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT m.missed, v.note_key, m.label, m.severity, m.round, m.role, m.who, m.at,
           array_agg(DISTINCT r.release ORDER BY r.release), bool_or(r.active)
    FROM (SELECT DISTINCT ON (i.round, i.role, i.missed) i.* FROM ctl.missed_identifier i
          ORDER BY i.round, i.role, i.missed, i.n DESC) m
    JOIN ctl.marked_note n ON n.missed = m.missed
    -- OFFSET 0: one note after the other, by its key. Marks are few, and versions are as many as there are notes.
    CROSS JOIN LATERAL (
        SELECT c.note_key, c.release FROM research.current_version c
        WHERE c.note_key = n.note_key AND c.feed = n.feed OFFSET 0) v
    JOIN ctl.release r ON r.release = v.release
    WHERE m.label IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM ctl.mark_dismissal d WHERE d.missed = m.missed AND d.feed = n.feed AND d.at >= m.at)
    GROUP BY m.missed, v.note_key, m.label, m.severity, m.round, m.role, m.who, m.at
    ORDER BY m.at, m.missed, m.role
$$;

-- Says why a note stays although it was marked. What is marked after that is open again.
CREATE OR REPLACE FUNCTION ctl.dismiss_mark(p_missed text, p_note_key text, p_who text, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_releases text[];
BEGIN
    PERFORM ctl.require_who_and_why(p_who, p_reason);
    v_releases := ARRAY(
        SELECT DISTINCT unnest(o.releases) FROM ctl.open_marks() o
        WHERE (o.missed, o.note_key) = (p_missed, p_note_key));
    IF v_releases = '{}' THEN
        RAISE EXCEPTION 'no such mark is open' USING ERRCODE = 'DG018';
    END IF;
    -- By its feed: under another secret the note has another key.
    INSERT INTO ctl.mark_dismissal (missed, feed, who, reason)
    SELECT p_missed, n.feed, ctl.trimmed(p_who), ctl.trimmed(p_reason)
    FROM ctl.marked_note n WHERE (n.missed, n.note_key) = (p_missed, p_note_key);
    INSERT INTO ctl.ledger (event, release, requirements, who, reason)
    SELECT 'mark-dismissed', r.release, ARRAY[p_missed], ctl.trimmed(p_who), ctl.trimmed(p_reason)
    FROM unnest(v_releases) AS r (release);
END $$;
