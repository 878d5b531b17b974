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
