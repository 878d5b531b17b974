-- What the gate knows: profiles, releases, deliveries, gate rows, waivers, and the ledger of all that happened.

CREATE TABLE ctl.profile (
    name   text PRIMARY KEY,
    active boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX one_active_profile ON ctl.profile (active) WHERE active;

CREATE TABLE ctl.requirement (
    profile     text NOT NULL REFERENCES ctl.profile,
    requirement text NOT NULL,
    waivable    boolean NOT NULL,
    PRIMARY KEY (profile, requirement)
);

INSERT INTO ctl.profile (name) VALUES ('demo'), ('production');
INSERT INTO ctl.requirement (profile, requirement, waivable) VALUES
    ('demo', 'parity', false),
    ('demo', 'expectations', false),
    ('demo', 'leaks', false),
    ('demo', 'bench', false),
    ('production', 'parity', false),
    ('production', 'expectations', false),
    ('production', 'leaks', false),
    ('production', 'bench', true),
    ('production', 'topics', true),
    ('production', 'site_gold', true);

-- One detector, one policy, one key: a release is never a mixture.
CREATE TABLE ctl.release (
    release         text PRIMARY KEY,
    detector_digest text NOT NULL,
    policy_digest   text NOT NULL,
    key_id          text NOT NULL,
    active          boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    activated_at    timestamptz
);
CREATE UNIQUE INDEX one_active_release ON ctl.release (active) WHERE active;

-- A delivery as it is staged now. The counts are what its source announced, not what was found staged.
CREATE TABLE ctl.delivery (
    delivery           text PRIMARY KEY,
    feed               text NOT NULL,
    delivery_seq       bigint NOT NULL,
    release            text NOT NULL REFERENCES ctl.release,
    detector_digest    text NOT NULL,
    inputs             text NOT NULL CHECK (inputs IN ('topics', 'text')),
    demonstration      boolean NOT NULL,
    clean              integer NOT NULL CHECK (clean >= 0),
    quarantined        integer NOT NULL CHECK (quarantined >= 0),
    withdrawn          integer NOT NULL CHECK (withdrawn >= 0),
    withdrawn_patients integer NOT NULL CHECK (withdrawn_patients >= 0),
    staged_digest      text,
    state              text NOT NULL CHECK (state IN ('staging', 'staged', 'refused', 'promoted')),
    run_id             text,
    actor              text NOT NULL DEFAULT session_user,
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    at                 timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (starts_with(delivery, feed || '@')),
    -- Two names with one place in the order could overwrite each other.
    UNIQUE (feed, delivery_seq)
);

-- What each release holds of each delivery. `hidden`: only its tombstones, because the gate refused the rest.
CREATE TABLE ctl.publication (
    release       text NOT NULL REFERENCES ctl.release,
    delivery      text NOT NULL REFERENCES ctl.delivery,
    state         text NOT NULL CHECK (state IN ('hidden', 'promoted')),
    staged_digest text,
    approved      integer NOT NULL DEFAULT 0,
    quarantined   integer NOT NULL DEFAULT 0,
    withdrawn     integer NOT NULL DEFAULT 0,
    actor         text NOT NULL DEFAULT session_user,
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (release, delivery)
);

-- A measurement, bound to the content, the detector, the inputs and the profile that it was made for.
CREATE TABLE ctl.gate (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    delivery        text NOT NULL REFERENCES ctl.delivery,
    requirement     text NOT NULL,
    staged_digest   text NOT NULL,
    detector_digest text NOT NULL,
    inputs          text NOT NULL CHECK (inputs IN ('topics', 'text')),
    profile         text NOT NULL REFERENCES ctl.profile,
    passed          boolean NOT NULL,
    -- Figures only: a string could carry a patient.
    measured        jsonb NOT NULL DEFAULT '{}' CHECK (NOT jsonb_path_exists(measured, '$.** ? (@.type() == "string")')),
    actor           text NOT NULL DEFAULT session_user,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (requirement <> 'topics' OR NOT passed OR inputs = 'topics')
);
CREATE INDEX gate_newest ON ctl.gate (delivery, requirement, id DESC);

CREATE TABLE ctl.waiver (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    delivery    text,
    feed        text,
    requirement text NOT NULL,
    who         text NOT NULL,
    reason      text NOT NULL,
    until       date NOT NULL,
    actor       text NOT NULL DEFAULT session_user,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (num_nonnulls(delivery, feed) = 1)
);

CREATE TABLE ctl.ledger (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor        text NOT NULL DEFAULT session_user,
    event        text NOT NULL,
    delivery     text,
    release      text,
    requirements text[] NOT NULL DEFAULT '{}',
    counts       jsonb NOT NULL DEFAULT '{}' CHECK (NOT jsonb_path_exists(counts, '$.** ? (@.type() == "string")'))
);
