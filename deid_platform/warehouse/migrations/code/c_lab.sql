-- What analysts see of the laboratory.

-- The newest figure of each measure, as in quality.scores: no word that is not on a list, four places, and nothing over
-- fewer than 11. Measures that are no shares (words a second, seconds, costs) have no n and are shown as they are.
CREATE OR REPLACE VIEW quality.lab_scores WITH (security_barrier) AS
SELECT s.detector, s.detector_digest, s.policy_digest, s.gold, s.locale, s.inputs, s.family, s.subject, s.measure,
       CASE WHEN s.shown THEN round(CAST(s.value AS numeric), 4)::double precision END AS value,
       CASE WHEN s.shown THEN round(CAST(s.low AS numeric), 4)::double precision END AS low,
       CASE WHEN s.shown THEN round(CAST(s.high AS numeric), 4)::double precision END AS high,
       CASE WHEN s.shown THEN s.n END AS n,
       NOT s.shown AS suppressed,
       s.at, s.judge, coalesce(w.notes_of, g.notes_of) AS notes_of,
       CASE s.inputs WHEN 'text' THEN 'none' ELSE coalesce(w.topics_of, g.topics_of) END AS topics_of,
       coalesce(w.marked_by, g.marked_by) AS marked_by
FROM (
    SELECT DISTINCT ON (l.detector_digest, l.policy_digest, l.gold, l.locale, l.inputs, l.family, l.subject, l.measure)
           l.*, l.n IS NULL AND l.family = 'cost' OR coalesce(l.n >= 11, false) AS shown
    FROM quality.lab_score l
    WHERE l.detector_digest ~ '^[0-9a-f]{16,64}$' AND l.policy_digest ~ '^([0-9a-f]{16,64})?$'
      AND EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'detector' AND w.word = l.detector)
      AND EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'gold' AND w.word = l.gold)
      AND EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'family' AND w.word = l.family)
      AND EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'subject' AND w.word = l.subject)
      AND EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'measure' AND w.word = l.measure)
      AND (l.locale = '' OR EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'subject' AND w.word = 'locale ' || l.locale))
    ORDER BY l.detector_digest, l.policy_digest, l.gold, l.locale, l.inputs, l.family, l.subject, l.measure, l.id DESC) s
LEFT JOIN quality.gold_source g ON g.gold = s.gold
LEFT JOIN ctl.look_source w ON w.look = s.look;

-- Every figure of each release's detector, not the newest alone: what changed, and when. Of quality.score and
-- quality.lab_score, which are append-only. Rows and hidden figures as in quality.scores and quality.lab_scores. The
-- modeller reads it and not analysts: exact numbers of many days would tell of each day between them.
CREATE OR REPLACE VIEW quality.score_history WITH (security_barrier) AS
SELECT r.release, r.active, s.detector_digest, s.gold, s.locale, s.inputs, s.family, s.subject, s.measure,
       CASE WHEN s.shown THEN round(CAST(s.value AS numeric), 4)::double precision END AS value,
       CASE WHEN s.shown THEN round(CAST(s.low AS numeric), 4)::double precision END AS low,
       CASE WHEN s.shown THEN round(CAST(s.high AS numeric), 4)::double precision END AS high,
       CASE WHEN s.shown THEN s.n END AS n,
       NOT s.shown AS suppressed,
       s.at, coalesce(w.notes_of, g.notes_of) AS notes_of,
       CASE s.inputs WHEN 'text' THEN 'none' ELSE coalesce(w.topics_of, g.topics_of) END AS topics_of,
       coalesce(w.marked_by, g.marked_by) AS marked_by
FROM ctl.release r
JOIN (
    SELECT detector_digest, '' AS policy_digest, gold, '' AS locale, inputs, 'words' AS family, label AS subject, measure,
           value, low, high, n, coalesce(n >= 11, false) AS shown, at,
           look
    FROM quality.score
    UNION ALL
    SELECT detector_digest, policy_digest, gold, locale, inputs, family, subject, measure,
           value, low, high, n, n IS NULL AND family = 'cost' OR coalesce(n >= 11, false), at, look
    FROM quality.lab_score) s
    ON s.detector_digest = r.detector_digest AND s.policy_digest IN ('', r.policy_digest)
LEFT JOIN quality.gold_source g ON g.gold = s.gold
LEFT JOIN ctl.look_source w ON w.look = s.look
WHERE s.detector_digest ~ '^[0-9a-f]{16,64}$'
  AND EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'gold' AND w.word = s.gold)
  AND EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'family' AND w.word = s.family)
  AND EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'subject' AND w.word = s.subject)
  AND EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'measure' AND w.word = s.measure)
  AND (s.locale = '' OR EXISTS (SELECT 1 FROM quality.word w WHERE w.kind = 'subject' AND w.word = 'locale ' || s.locale));
