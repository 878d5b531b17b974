-- Each time that a dossier became the one of its release: what is true again makes an earlier file the newest again.
CREATE TABLE ctl.dossier_writing (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest text NOT NULL REFERENCES ctl.dossier,
    actor  text NOT NULL DEFAULT session_user,
    at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO ctl.dossier_writing (digest, actor, at) SELECT d.digest, d.actor, d.at FROM ctl.dossier d ORDER BY d.at;
