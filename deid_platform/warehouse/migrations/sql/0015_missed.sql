-- An identifier that a reviewer marks as missed in a round. The words and their place lie in the note store; `missed` is
-- a keyed digest of the note and the place. `n` is the place among all marks of this role in the round.
CREATE TABLE ctl.missed_identifier (
    round      integer NOT NULL CHECK (round > 0),
    role       text NOT NULL CHECK (role IN ('A', 'B', 'adjudicator')),
    n          integer NOT NULL CHECK (n > 0),
    removal    text NOT NULL CHECK (removal ~ '^[0-9a-f]{32}$'), -- beside which it was marked
    missed     text NOT NULL CHECK (missed ~ '^[0-9a-f]{32}$'),
    label      text CHECK (label ~ '^[A-Z][A-Z-]{1,29}$'), -- NULL: taken back
    severity   text CHECK (severity IN ('high', 'low')),
    who        text NOT NULL CHECK (btrim(who) <> ''),
    decided_at timestamptz NOT NULL, -- as the desk says; `at` is the server's
    actor      text NOT NULL DEFAULT session_user,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (round, role, n),
    CHECK ((severity IS NULL) = (label IS NULL))
);
