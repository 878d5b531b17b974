-- Findings: an identifier that a reader saw in a note. One person hides what holds it, two withdraw the finding.

-- Findings that two people withdrew, and with a finding those of the same place before it that hid the reported note alone.
CREATE OR REPLACE VIEW ctl.withdrawn_finding AS
SELECT w.finding FROM ctl.finding_withdrawal w WHERE w.turn = 2
UNION
SELECT o.id
FROM ctl.finding_withdrawal w
JOIN ctl.finding f ON f.id = w.finding AND f.everywhere
JOIN ctl.finding o ON (o.release, o.feed, o.note_key, o.span_start, o.span_end)
    = (f.release, f.feed, f.note_key, f.span_start, f.span_end) AND o.id < f.id AND NOT o.everywhere
WHERE w.turn = 2;

-- The string that a reader means: whole words, without the tags and blanks at its ends; and where it stands. Here and in
-- the functions below it is only ever a variable; `reported_since` hands it to the login that
-- seals it in the PHI zone.
-- Not granted to anyone.
CREATE OR REPLACE FUNCTION ctl.marked_string(
    p_keys text[], INOUT p_start integer, INOUT p_end integer,
    OUT string text, OUT release text, OUT feed text, OUT note_key text, OUT delivery text
) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v research.note_version;
    v_bare text;
    v_blank text := E' \t\r\n' || chr(65532);
    -- A label, and what a policy may leave beside it: a year, a decade, three digits. Clinicians write in brackets too.
    v_tag text := '^\[(?:PATIENT|DOCTOR|USERNAME|PROFESSION|HOSPITAL|ORGANIZATION|STREET|CITY|STATE|COUNTRY|ZIP|LOCATION-OTHER'
        '|AGE|DATE|PHONE|FAX|EMAIL|URL|IPADDR|SSN|MEDICALRECORD|HEALTHPLAN|ACCOUNT|LICENSE|VEHICLE|DEVICE|BIOID|IDNUM'
        '|INDIRECT)[^][[:alpha:]]*s?\]$';
BEGIN
    SELECT n.* INTO v FROM research.note_version n JOIN ctl.release r ON r.release = n.release
    WHERE n.note_key = ANY (p_keys)
    ORDER BY r.active DESC, r.created_at DESC, n.delivery_seq DESC LIMIT 1;
    IF v.note_key IS NULL THEN
        RAISE EXCEPTION 'no such note' USING ERRCODE = 'DG005';
    END IF;
    -- The text with its tags blanked: they say what was removed, and no reader means them.
    v_bare := (
        SELECT string_agg(CASE WHEN m.piece[1] ~ v_tag
                               THEN repeat(chr(65532), length(m.piece[1])) ELSE m.piece[1] END, '' ORDER BY m.n)
        FROM regexp_matches(v.text, '\[[A-Z][^][]*\]|[^[]+|\[', 'g') WITH ORDINALITY AS m (piece, n));
    string := substring(v_bare FROM p_start + 1 FOR p_end - p_start);
    IF p_start < 0 OR p_end <= p_start OR p_end > length(v.text) OR string !~ '\w' THEN
        RAISE EXCEPTION 'span' USING ERRCODE = 'DG005';
    END IF;
    p_end := p_start + length(rtrim(string, v_blank));
    p_start := p_end - length(ltrim(rtrim(string, v_blank), v_blank));
    -- Half a word would neither be found in other notes nor by the next leak check: the words that it cuts belong to it.
    IF substring(v_bare FROM p_start + 1 FOR 1) ~ '\w' THEN
        p_start := p_start - length(substring(left(v_bare, p_start) FROM '\w*$'));
    END IF;
    IF substring(v_bare FROM p_end FOR 1) ~ '\w' THEN
        p_end := p_end + length(substring(substring(v_bare FROM p_end + 1) FROM '^\w*'));
    END IF;
    string := substring(v.text FROM p_start + 1 FOR p_end - p_start);
    -- An identifier, not a text: what is reported is handed on.
    IF length(string) > 200 THEN
        RAISE EXCEPTION 'more than 200 characters' USING ERRCODE = 'DG005';
    END IF;
    release := v.release;
    feed := v.feed;
    note_key := v.note_key;
    delivery := v.delivery;
END $$;

-- Every version of the reported note (`own`), and of each note in which the string stands as words of its own.
-- Not granted to anyone.
CREATE OR REPLACE FUNCTION ctl.versions_holding(p_keys text[], p_string text)
RETURNS TABLE (
    note_key text, feed text, release text, delivery_seq bigint, delivery text, text_digest text, own boolean,
    holds_it boolean
) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_pattern text := '(^|\W)' || regexp_replace(p_string, '(\W)', '\\\1', 'g') || '(\W|$)';
BEGIN
    RETURN QUERY
    SELECT n.note_key, n.feed, n.release, n.delivery_seq, n.delivery,
           encode(sha256(convert_to(n.text, 'UTF8')), 'hex'), n.note_key = ANY (p_keys), n.text ~* v_pattern
    FROM research.note_version n
    WHERE n.note_key = ANY (p_keys) OR (strpos(lower(n.text), lower(p_string)) > 0 AND n.text ~* v_pattern);
END $$;

-- How many notes the releases hold, and up to how many of them a finding hides unless somebody says that it may be
-- more: 1 in 100, or 10 where that is more. What stands in more notes may be a common word. Not granted to anyone.
CREATE OR REPLACE FUNCTION ctl.notes_held(OUT notes integer, OUT unasked integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT h.notes, greatest(10, h.notes / 100)
    FROM (SELECT count(DISTINCT (k.feed, k.note_key))::integer AS notes FROM research.version_key k) h
$$;

-- What `retract` would hide, in counts: characters of the string, releases and other notes that hold it, these and the
-- reported one together, all notes, and how many would be hidden unasked.
CREATE OR REPLACE FUNCTION ctl.preview(
    p_keys text[], p_start integer, p_end integer,
    OUT length integer, OUT releases integer, OUT matches integer, OUT holders integer, OUT notes integer,
    OUT unasked integer
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT pg_catalog.length(m.string), c.releases, c.matches, c.holders, h.notes, h.unasked
    FROM ctl.marked_string(p_keys, p_start, p_end) m
    CROSS JOIN LATERAL (
        SELECT count(DISTINCT v.release) FILTER (WHERE v.holds_it)::integer AS releases,
               count(DISTINCT (v.feed, v.note_key)) FILTER (WHERE NOT v.own)::integer AS matches,
               count(DISTINCT (v.feed, v.note_key))::integer AS holders
        FROM ctl.versions_holding(p_keys, m.string) v) c
    CROSS JOIN ctl.notes_held() h
$$;

-- Hides a note in which a reader found an identifier, in every release at once, and every other note in which the
-- same string stands as words of its own. Where those are more than p_hide together (NULL: than are hidden unasked), the
-- reported note alone is hidden. From then on nothing that was measured before counts at the gate.
CREATE OR REPLACE FUNCTION ctl.retract(
    p_keys text[], p_start integer, p_end integer, p_label text, p_who text, p_hide integer,
    OUT finding bigint, OUT length integer, OUT releases integer, OUT matches integer, OUT holders integer,
    OUT notes integer, OUT unasked integer, OUT hidden integer
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    m record;
BEGIN
    PERFORM ctl.require_who(p_who);
    -- No promotion in between: what passes after this passes knowing of it.
    PERFORM ctl.lock_releases();
    SELECT * INTO m FROM ctl.marked_string(p_keys, p_start, p_end);
    length := pg_catalog.length(m.string);
    SELECT h.notes, h.unasked INTO notes, unasked FROM ctl.notes_held() h;
    -- One statement: what is counted is what is hidden.
    WITH held AS MATERIALIZED (SELECT * FROM ctl.versions_holding(p_keys, m.string)),
    counted AS (
        SELECT count(DISTINCT v.release) FILTER (WHERE v.holds_it)::integer AS releases,
               count(DISTINCT (v.feed, v.note_key)) FILTER (WHERE NOT v.own)::integer AS matches,
               count(DISTINCT (v.feed, v.note_key))::integer AS holders,
               count(DISTINCT (v.feed, v.note_key)) <= coalesce(p_hide, unasked) AS everywhere
        FROM held v),
    kept AS (SELECT v.* FROM held v CROSS JOIN counted c WHERE v.own OR c.everywhere),
    filed AS (
        INSERT INTO ctl.finding (who, label, release, feed, note_key, span_start, span_end, releases, matches,
            everywhere, hidden)
        SELECT ctl.trimmed(p_who), p_label, m.release, m.feed, m.note_key, m.p_start, m.p_end, c.releases, c.matches,
               c.everywhere, (SELECT count(DISTINCT (k.feed, k.note_key)) FROM kept k)
        FROM counted c
        RETURNING id, ctl.finding.hidden),
    retracted AS (
        INSERT INTO research.retraction (note_key, feed, release, delivery_seq, delivery, finding, text_digest)
        SELECT k.note_key, k.feed, k.release, k.delivery_seq, k.delivery, f.id, k.text_digest
        FROM kept k CROSS JOIN filed f),
    republished AS ( -- the next promotion of these deliveries copies anew, whatever it held before
        UPDATE ctl.publication p SET staged_digest = NULL
        FROM (SELECT DISTINCT k.release, k.delivery FROM kept k) k
        WHERE p.release = k.release AND p.delivery = k.delivery)
    SELECT f.id, c.releases, c.matches, c.holders, f.hidden INTO finding, releases, matches, holders, hidden
    FROM filed f CROSS JOIN counted c;
    INSERT INTO ctl.ledger (event, delivery, release, who, counts)
    VALUES ('retracted', m.delivery, m.release, ctl.trimmed(p_who), jsonb_build_object(
        'finding', finding, 'releases', releases, 'matches', matches, 'hidden', hidden));
END $$;

-- Hides a note in every release, whatever it says: no text of it passes the gate until two people withdraw the finding.
-- There is no string of it, so that other notes are not searched.
CREATE OR REPLACE FUNCTION ctl.retract_note(p_keys text[], p_label text, p_who text, OUT finding bigint, OUT hidden integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v research.note_version;
BEGIN
    PERFORM ctl.require_who(p_who);
    -- No promotion in between.
    PERFORM ctl.lock_releases();
    SELECT n.* INTO v FROM research.note_version n JOIN ctl.release r ON r.release = n.release
    WHERE n.note_key = ANY (p_keys)
    ORDER BY r.active DESC, r.created_at DESC, n.delivery_seq DESC LIMIT 1;
    IF v.note_key IS NULL THEN
        RAISE EXCEPTION 'no such note' USING ERRCODE = 'DG005';
    END IF;
    INSERT INTO ctl.finding (who, label, release, feed, note_key, releases, matches, everywhere, hidden)
    SELECT ctl.trimmed(p_who), p_label, v.release, v.feed, v.note_key, count(DISTINCT n.release), 0, false,
           count(DISTINCT (n.feed, n.note_key))
    FROM research.note_version n WHERE n.note_key = ANY (p_keys)
    RETURNING id, ctl.finding.hidden INTO retract_note.finding, retract_note.hidden;
    INSERT INTO research.retraction (note_key, feed, release, delivery_seq, delivery, finding, text_digest)
    SELECT n.note_key, n.feed, n.release, n.delivery_seq, n.delivery, retract_note.finding, ''
    FROM research.note_version n WHERE n.note_key = ANY (p_keys);
    UPDATE ctl.publication p SET staged_digest = NULL
    FROM (SELECT DISTINCT n.release, n.delivery FROM research.note_version n WHERE n.note_key = ANY (p_keys)) n
    WHERE p.release = n.release AND p.delivery = n.delivery;
    INSERT INTO ctl.ledger (event, delivery, release, who, counts)
    VALUES ('retracted', v.delivery, v.release, ctl.trimmed(p_who), jsonb_build_object('finding', finding, 'hidden', hidden));
END $$;

-- The strings of the findings after one, for whoever keeps them in the PHI zone. A text that is gone by now needs no
-- keeping: its string is empty. Not for the officer, who says which strings these are: nobody reads a text with one login.
-- What is handed out is a read like any other, with a row in the access log.
CREATE OR REPLACE FUNCTION ctl.reported_since(p_newest bigint)
RETURNS TABLE (finding bigint, feed text, label text, string text, everywhere boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM ctl.finding f WHERE f.id > p_newest) THEN
        PERFORM ctl.log_access('ctl.reported_since');
    END IF;
    RETURN QUERY
    SELECT f.id, f.feed, f.label, coalesce(s.string, ''), f.everywhere AND s.string IS NOT NULL
    FROM ctl.finding f
    LEFT JOIN LATERAL (
        SELECT substring(n.text FROM f.span_start + 1 FOR least(f.span_end - f.span_start, 200)) AS string
        FROM research.retraction t
        JOIN research.note_version n ON n.note_key = t.note_key AND n.feed = t.feed AND n.release = t.release
         AND n.delivery_seq = t.delivery_seq AND encode(sha256(convert_to(n.text, 'UTF8')), 'hex') = t.text_digest
        WHERE t.finding = f.id AND t.note_key = f.note_key AND t.feed = f.feed AND t.release = f.release
        ORDER BY n.delivery_seq DESC LIMIT 1) s ON true
    WHERE f.id > p_newest ORDER BY f.id;
END $$;

-- Says that a finding is none. The first who says so proposes it, which changes nothing. When somebody else says so too,
-- by another login, it is withdrawn: what it alone hid is shown again, unless a later measurement or anything else hides
-- it, and the gate asks nobody to know of it any more. p_person is the name without what spellings of one name differ in,
-- which the caller tells: what a capital is depends on the server's locale. Returns whether it is withdrawn, and how many
-- more notes analysts see.
CREATE OR REPLACE FUNCTION ctl.withdraw_finding(
    p_finding bigint, p_who text, p_person text, p_reason text, OUT withdrawn boolean, OUT shown bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f ctl.finding;
    v_first ctl.finding_withdrawal;
BEGIN
    IF coalesce(p_person, '') = '' THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG003';
    END IF;
    PERFORM ctl.require_who_and_why(p_who, p_reason);
    -- No promotion in between, and nobody else who withdraws it.
    PERFORM ctl.lock_releases();
    SELECT * INTO f FROM ctl.finding WHERE id = p_finding;
    IF f.id IS NULL OR EXISTS (SELECT 1 FROM ctl.withdrawn_finding w WHERE w.finding = f.id) THEN
        RAISE EXCEPTION 'no finding of that number is in force' USING ERRCODE = 'DG009';
    END IF;
    SELECT * INTO v_first FROM ctl.finding_withdrawal w WHERE w.finding = f.id AND w.turn = 1;
    IF p_person = v_first.person OR ctl.trimmed(p_who) = v_first.who OR v_first.actor = session_user THEN
        RAISE EXCEPTION 'finding %', f.id USING ERRCODE = 'DG010';
    END IF;
    withdrawn := v_first.finding IS NOT NULL;
    INSERT INTO ctl.finding_withdrawal (finding, turn, who, person, reason)
    VALUES (f.id, CASE WHEN withdrawn THEN 2 ELSE 1 END, ctl.trimmed(p_who), p_person, ctl.trimmed(p_reason));
    shown := 0;
    IF withdrawn THEN
        shown := -ctl.notes_shown();
        WITH ended AS (
            DELETE FROM research.retraction t USING ctl.withdrawn_finding w WHERE t.finding = w.finding
            RETURNING t.release, t.delivery, t.note_key, t.feed)
        -- What was promoted meanwhile without a retracted text is copied anew by the next promotion.
        UPDATE ctl.publication p SET staged_digest = NULL
        FROM (SELECT e.release, e.delivery FROM ended e
              UNION
              SELECT h.release, h.delivery FROM ended e JOIN research.held h ON h.note_key = e.note_key AND h.feed = e.feed
              WHERE h.reason = 'quarantined') e
        WHERE p.release = e.release AND p.delivery = e.delivery;
        shown := shown + ctl.notes_shown();
    END IF;
    INSERT INTO ctl.ledger (event, release, who, reason, counts)
    VALUES (CASE WHEN withdrawn THEN 'finding-withdrawn' ELSE 'finding-withdrawal-proposed' END, f.release,
            ctl.trimmed(p_who), ctl.trimmed(p_reason), jsonb_build_object('finding', f.id, 'shown', shown));
END $$;
