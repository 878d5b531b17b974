-- Waivers that can be ended before their last day.

-- Of functions whose results changed; code/ makes them anew.
DROP FUNCTION IF EXISTS ctl.gate_state;

-- Who ended a waiver, and why. The waiver itself stays as it was recorded.
CREATE TABLE ctl.waiver_end (
    waiver bigint PRIMARY KEY REFERENCES ctl.waiver,
    who    text NOT NULL,
    reason text NOT NULL,
    actor  text NOT NULL DEFAULT session_user,
    at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
