-- What analysts see of the bench.

-- A figure over fewer than 11 is hidden whole: from a share of ten, the count could be read back.
CREATE OR REPLACE VIEW quality.scores WITH (security_barrier) AS
SELECT detector_digest, gold, inputs, label, measure,
       CASE WHEN n >= 11 THEN value END AS value,
       CASE WHEN n >= 11 THEN low END AS low,
       CASE WHEN n >= 11 THEN high END AS high,
       CASE WHEN n >= 11 THEN n END AS n,
       coalesce(n < 11, true) AS suppressed,
       at
FROM quality.score;
