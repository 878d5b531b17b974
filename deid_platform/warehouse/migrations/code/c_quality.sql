-- What analysts see of the bench.

-- The newest figure of each measure. The gatekeeper writes them alone, and analysts read no text that one role wrote:
-- words come from the lists here, the detector from a release, which the loader announces, and figures have four places.
-- A figure over fewer than 11 is hidden whole: from a share of ten, the count could be read back.
CREATE OR REPLACE VIEW quality.scores WITH (security_barrier) AS
SELECT s.detector_digest, s.gold, s.inputs, s.label, s.measure,
       CASE WHEN s.n >= 11 THEN round(CAST(s.value AS numeric), 4)::double precision END AS value,
       CASE WHEN s.n >= 11 THEN round(CAST(s.low AS numeric), 4)::double precision END AS low,
       CASE WHEN s.n >= 11 THEN round(CAST(s.high AS numeric), 4)::double precision END AS high,
       CASE WHEN s.n >= 11 THEN s.n END AS n,
       coalesce(s.n < 11, true) AS suppressed,
       s.at, coalesce(w.notes_of, g.notes_of) AS notes_of,
       CASE s.inputs WHEN 'text' THEN 'none' ELSE coalesce(w.topics_of, g.topics_of) END AS topics_of,
       coalesce(w.marked_by, g.marked_by) AS marked_by
FROM (
    SELECT DISTINCT ON (detector_digest, gold, inputs, label, measure) *
    FROM quality.score
    WHERE gold IN ('site', 'library', 'synthetic_hospital')
      AND measure IN (
          'precision', 'recall', 'recall_conservative', 'f1', 'entity_recall', 'leak_rate', 'words_kept',
          'clinical_retention')
      AND label IN (
          'ALL', 'PATIENT', 'DOCTOR', 'USERNAME', 'PROFESSION', 'HOSPITAL', 'ORGANIZATION', 'STREET', 'CITY', 'STATE',
          'COUNTRY', 'ZIP', 'LOCATION-OTHER', 'AGE', 'DATE', 'PHONE', 'FAX', 'EMAIL', 'URL', 'IPADDR', 'SSN',
          'MEDICALRECORD', 'HEALTHPLAN', 'ACCOUNT', 'LICENSE', 'VEHICLE', 'DEVICE', 'BIOID', 'IDNUM')
    ORDER BY detector_digest, gold, inputs, label, measure, id DESC) s
LEFT JOIN quality.gold_source g ON g.gold = s.gold
LEFT JOIN ctl.look_source w ON w.look = s.look
WHERE EXISTS (SELECT 1 FROM ctl.release r WHERE r.detector_digest = s.detector_digest);
