-- Held-out sets: what figures are measured on is sealed before, and every look at it is counted.

-- Seals a set, once; whoever comes again must mean the same. Its digest covers notes and gold, so that the same content
-- has one name whatever it is called. Strata are those of the day: a site may divide years otherwise later.
CREATE OR REPLACE FUNCTION ctl.seal_held_out(
    p_digest text, p_gold text, p_locale text, p_patients integer, p_strata integer, p_smallest integer, p_spans jsonb,
    p_notes text[]
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_seen integer;
    v_name text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'gold' AND w.word = p_gold)
       OR (p_locale <> '' AND NOT EXISTS (
           SELECT 1 FROM quality.word w WHERE w.kind = 'subject' AND w.word = 'locale ' || p_locale)) THEN
        RAISE EXCEPTION 'gold' USING ERRCODE = 'DG013';
    ELSIF EXISTS (
        SELECT 1 FROM jsonb_each(p_spans) s
        WHERE jsonb_typeof(s.value) <> 'number'
           OR NOT EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'subject' AND w.word = s.key)) THEN
        RAISE EXCEPTION 'spans' USING ERRCODE = 'DG013';
    ELSIF coalesce(cardinality(p_notes), 0) = 0 THEN
        RAISE EXCEPTION 'notes' USING ERRCODE = 'DG013';
    END IF;
    SELECT count(DISTINCT n.note) INTO v_seen FROM ctl.held_out_note n WHERE n.note = ANY (p_notes);
    INSERT INTO ctl.held_out_set (digest, gold, locale, notes, patients, strata, smallest_stratum, spans, seen)
    VALUES (p_digest, p_gold, p_locale, cardinality(p_notes), p_patients, p_strata, p_smallest, p_spans, v_seen)
    ON CONFLICT DO NOTHING RETURNING name INTO v_name;
    IF FOUND THEN
        INSERT INTO ctl.held_out_note (note, held_out_set) SELECT DISTINCT n.note, p_digest FROM unnest(p_notes) n (note);
        INSERT INTO ctl.ledger (event, requirements, counts)
        VALUES ('held-out-sealed', ARRAY[v_name, p_gold], jsonb_build_object(
            'notes', cardinality(p_notes), 'patients', p_patients, 'strata', p_strata, 'smallest_stratum', p_smallest,
            'seen', v_seen));
    ELSIF NOT EXISTS (
        SELECT 1 FROM ctl.held_out_set s
        WHERE s.digest = p_digest
          AND (s.gold, s.locale, s.notes, s.patients, s.spans)
              = (p_gold, p_locale, cardinality(p_notes), p_patients, p_spans)) THEN
        RAISE EXCEPTION 'set' USING ERRCODE = 'DG013';
    END IF;
END $$;

-- Says whose notes a sealed set of a site's own is of and by which hand it was marked, where that is not said yet.
CREATE OR REPLACE FUNCTION ctl.name_source(p_set text, p_notes_of text, p_marked_by text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_name text;
BEGIN
    SELECT s.name INTO v_name FROM ctl.held_out_set s WHERE s.digest = p_set AND s.gold IN ('site', 'read_notes');
    IF v_name IS NULL THEN
        RAISE EXCEPTION 'source' USING ERRCODE = 'DG013';
    ELSIF (p_notes_of, p_marked_by) IS NOT DISTINCT FROM (
        SELECT ROW (h.notes_of, h.marked_by) FROM ctl.held_out_source h WHERE h.held_out_set = p_set
        ORDER BY h.id DESC LIMIT 1) THEN
        RETURN;
    END IF;
    INSERT INTO ctl.held_out_source (held_out_set, notes_of, marked_by) VALUES (p_set, p_notes_of, p_marked_by);
    INSERT INTO ctl.ledger (event, requirements) VALUES ('held-out-source', ARRAY[v_name, p_notes_of, p_marked_by]);
END $$;

-- Counts a look at a sealed set. Whoever computes figures calls it before.
CREATE OR REPLACE FUNCTION ctl.record_look(
    p_set text, p_detector_digest text, p_purpose text, OUT number bigint, OUT at timestamptz
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_name text;
BEGIN
    SELECT s.name INTO v_name FROM ctl.held_out_set s WHERE s.digest = p_set;
    IF v_name IS NULL THEN
        RAISE EXCEPTION 'set' USING ERRCODE = 'DG013';
    ELSIF NOT EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'purpose' AND w.word = p_purpose) THEN
        RAISE EXCEPTION 'purpose' USING ERRCODE = 'DG013';
    END IF;
    INSERT INTO ctl.look AS l (held_out_set, detector_digest, purpose) VALUES (p_set, p_detector_digest, p_purpose)
    RETURNING l.id, l.at INTO number, record_look.at;
    INSERT INTO ctl.ledger (event, requirements, counts)
    VALUES ('looked', ARRAY[v_name, p_purpose], jsonb_build_object('look', number));
END $$;

-- A figure of the bench or the laboratory names the look that it is of: of the same detector, at a set of the same gold.
-- Cost needs no gold, and a judge is measured on pairs that come with the platform.
CREATE OR REPLACE FUNCTION ctl.require_look() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM ctl.look l JOIN ctl.held_out_set s ON s.digest = l.held_out_set
        WHERE l.id = NEW.look AND l.detector_digest = NEW.detector_digest AND s.gold = NEW.gold
          AND s.locale = coalesce(to_jsonb(NEW) ->> 'locale', '')
          AND (TG_TABLE_NAME <> 'score' OR l.purpose = 'gate')) THEN
        RAISE EXCEPTION 'look' USING ERRCODE = 'DG013';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER looked BEFORE INSERT ON quality.score FOR EACH ROW EXECUTE FUNCTION ctl.require_look();
CREATE OR REPLACE TRIGGER looked BEFORE INSERT ON quality.lab_score FOR EACH ROW
    WHEN (NEW.family NOT IN ('cost', 'judges') OR NEW.look IS NOT NULL) EXECUTE FUNCTION ctl.require_look();

-- Nor does the gate take a word on a detector that never looked.
CREATE OR REPLACE FUNCTION ctl.require_gate_look() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM ctl.look l WHERE l.detector_digest = NEW.detector_digest AND l.purpose = 'gate') THEN
        RAISE EXCEPTION 'look' USING ERRCODE = 'DG013';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER looked BEFORE INSERT ON ctl.gate FOR EACH ROW WHEN (NEW.requirement = 'bench')
    EXECUTE FUNCTION ctl.require_gate_look();

-- Where the figures of each look are from. Every word is of a closed list.
CREATE OR REPLACE VIEW ctl.look_source AS
SELECT l.id AS look, s.gold, s.notes, coalesce(h.notes_of, g.notes_of) AS notes_of,
       coalesce(h.notes_of, g.topics_of) AS topics_of, coalesce(h.marked_by, g.marked_by) AS marked_by
FROM ctl.look l
JOIN ctl.held_out_set s ON s.digest = l.held_out_set
LEFT JOIN quality.gold_source g ON g.gold = s.gold
LEFT JOIN LATERAL (
    SELECT o.notes_of, o.marked_by FROM ctl.held_out_source o WHERE o.held_out_set = s.digest ORDER BY o.id DESC LIMIT 1
) h ON true;

-- Every set with its looks.
CREATE OR REPLACE VIEW ctl.held_out AS
SELECT s.digest, s.name, s.gold, s.locale, s.notes, s.patients, s.strata,
       s.smallest_stratum, s.seen, s.at, count(l.id) AS looks, count(DISTINCT l.detector_digest) AS detectors
FROM ctl.held_out_set s LEFT JOIN ctl.look l ON l.held_out_set = s.digest
GROUP BY s.digest;

-- What analysts see of it. Notes are rounded down: exact numbers of two sets would tell how they differ.
CREATE OR REPLACE VIEW quality.held_out_sets WITH (security_barrier) AS
SELECT h.name AS held_out_set, h.gold, h.locale,
       CASE WHEN h.notes >= 11 THEN h.notes - h.notes % 10 END AS notes,
       CASE WHEN h.seen >= 11 THEN h.seen - h.seen % 10 END AS seen_before,
       h.at AS sealed_at, h.looks, h.detectors
FROM ctl.held_out h
WHERE EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'gold' AND w.word = h.gold)
  AND (h.locale = '' OR EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'subject' AND w.word = 'locale ' || h.locale));
