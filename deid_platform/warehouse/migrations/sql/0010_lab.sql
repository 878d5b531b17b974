-- Figures of the laboratory, dossiers and their signatures.

-- Every name that a figure of the laboratory may have, so that readers see no text that one role wrote. The owner
-- fills it at each migration from warehouse/quality/lab.py.
CREATE TABLE quality.word (
    kind text NOT NULL CHECK (kind IN ('family', 'subject', 'measure', 'gold', 'detector')),
    word text NOT NULL,
    PRIMARY KEY (kind, word)
);

CREATE TABLE quality.lab_score (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    detector        text NOT NULL,
    detector_digest text NOT NULL,
    policy_digest   text NOT NULL DEFAULT '',
    gold            text NOT NULL,
    locale          text NOT NULL DEFAULT '',
    inputs          text NOT NULL CHECK (inputs IN ('topics', 'text')),
    family          text NOT NULL,
    subject         text NOT NULL DEFAULT 'ALL',
    measure         text NOT NULL,
    value           double precision,
    low             double precision,
    high            double precision,
    n               integer CHECK (n >= 0),
    actor           text NOT NULL DEFAULT session_user,
    at              timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX lab_score_newest ON quality.lab_score (detector_digest, gold, family, id DESC);

-- Whether a release is shown only once somebody has signed its dossier.
ALTER TABLE ctl.profile ADD COLUMN signed_dossier boolean NOT NULL DEFAULT false;

-- A dossier as it was written: which release, and the digest of its file.
CREATE TABLE ctl.dossier (
    digest  text PRIMARY KEY CHECK (digest ~ '^[0-9a-f]{64}$'),
    release text NOT NULL REFERENCES ctl.release,
    actor   text NOT NULL DEFAULT session_user,
    at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What a person concluded from it. A later signature of the same release takes the place of an earlier one.
CREATE TABLE ctl.signature (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    dossier     text NOT NULL REFERENCES ctl.dossier,
    who         text NOT NULL,
    conclusion  text NOT NULL CHECK (conclusion IN ('fit', 'fit-with-conditions', 'unfit')),
    reason      text NOT NULL,
    reassess_by date NOT NULL,
    public_key  text NOT NULL,
    signature   text NOT NULL,
    actor       text NOT NULL DEFAULT session_user,
    at          timestamptz NOT NULL DEFAULT clock_timestamp()
);
