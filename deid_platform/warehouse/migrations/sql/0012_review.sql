-- What people decide at the reviewer's desk: on removals and on quarantined notes.

-- What a reviewer says of a removal. `n` is the place among all that this role said in the round, so that what is
-- entered twice stands once.
CREATE TABLE ctl.removal_decision (
    round      integer NOT NULL CHECK (round > 0),
    role       text NOT NULL CHECK (role IN ('A', 'B', 'adjudicator')),
    n          integer NOT NULL CHECK (n > 0),
    removal    text NOT NULL CHECK (removal ~ '^[0-9a-f]{32}$'),
    category   text CHECK (category IN ('clinically_relevant', 'clinically_irrelevant', 'provider_or_clinic',
                                        'insensitive_identifier', 'missed_by_gold')), -- NULL: taken back
    severity   text CHECK (severity IN ('high', 'low')),
    who        text NOT NULL CHECK (btrim(who) <> ''),
    decided_at timestamptz NOT NULL, -- as the desk says; `at` is the server's
    actor      text NOT NULL DEFAULT session_user,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (round, role, n),
    CHECK ((severity IS NOT NULL) = coalesce(category = 'clinically_relevant', false))
);

-- What people decide about a quarantined note. The spans that they mended lie sealed in the note store; `ruling` is a
-- keyed digest of them, of the note and of the detector.
CREATE TABLE ctl.ruling (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    feed     text NOT NULL,
    note_key text NOT NULL CHECK (note_key ~ '^n_[a-z2-7]{26}$'),
    ruling   text NOT NULL CHECK (ruling ~ '^[0-9a-f]{32}$'),
    action   text NOT NULL CHECK (action IN ('keep-out', 'mend', 'pass', 'as-found')),
    held_for text NOT NULL CHECK (held_for ~ '^[a-z][a-z-]{1,39}$'), -- the reason code that the note was quarantined for
    turn     smallint NOT NULL CHECK (turn IN (1, 2)),
    who      text NOT NULL,
    person   text NOT NULL CHECK (person <> ''), -- the name without what two spellings of one differ in
    reason   text NOT NULL,
    actor    text NOT NULL DEFAULT session_user,
    at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ruling_of ON ctl.ruling (feed, note_key, id);
