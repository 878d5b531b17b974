-- Findings that two people can withdraw.

-- Of functions whose parameters or results changed; code/ makes them anew.
DROP FUNCTION IF EXISTS ctl.retract;

-- Who says that a finding is none, and why: the first proposes, the second, another person, withdraws it. The finding
-- itself stays as it was recorded.
CREATE TABLE ctl.finding_withdrawal (
    finding bigint NOT NULL REFERENCES ctl.finding,
    turn    smallint NOT NULL CHECK (turn IN (1, 2)),
    who     text NOT NULL,
    person  text NOT NULL CHECK (person <> ''), -- the name without what two spellings of one differ in
    reason  text NOT NULL,
    actor   text NOT NULL DEFAULT session_user,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (finding, turn),
    UNIQUE (finding, person)
);
