-- The bench's figures. The table is the gatekeeper's; analysts read the view, where small groups are hidden.

CREATE TABLE quality.score (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    detector_digest text NOT NULL,
    gold            text NOT NULL,
    inputs          text NOT NULL CHECK (inputs IN ('topics', 'text')),
    label           text NOT NULL DEFAULT 'ALL',
    measure         text NOT NULL,
    value           double precision,
    low             double precision,
    high            double precision,
    n               integer CHECK (n >= 0),
    actor           text NOT NULL DEFAULT session_user,
    at              timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A figure over fewer than 11 is hidden whole: from a share of ten, the count could be read back.
CREATE VIEW quality.scores WITH (security_barrier) AS
SELECT detector_digest, gold, inputs, label, measure,
       CASE WHEN n >= 11 THEN value END AS value,
       CASE WHEN n >= 11 THEN low END AS low,
       CASE WHEN n >= 11 THEN high END AS high,
       CASE WHEN n >= 11 THEN n END AS n,
       coalesce(n < 11, true) AS suppressed,
       at
FROM quality.score;
