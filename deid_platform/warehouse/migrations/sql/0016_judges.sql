-- Language models that judge releases, and which figures are by which.

-- What the digest of a judge stands for. Its model is a name of deid.toml: officers read it in a dossier, analysts do not.
CREATE TABLE quality.judge (
    digest        text PRIMARY KEY CHECK (digest ~ '^[0-9a-f]{16,64}$'),
    model         text NOT NULL CHECK (length(model) BETWEEN 1 AND 200),
    prompt        text NOT NULL CHECK (prompt ~ '^[a-z0-9-]{1,60}$'),
    prompt_digest text NOT NULL CHECK (prompt_digest ~ '^[0-9a-f]{16,64}$'),
    actor         text NOT NULL DEFAULT session_user,
    at            timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Empty of figures that no language model judged.
ALTER TABLE quality.lab_score ADD COLUMN judge text NOT NULL DEFAULT '' CHECK (judge ~ '^([0-9a-f]{16,64})?$');
