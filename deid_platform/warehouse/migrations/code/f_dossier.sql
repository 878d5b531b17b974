-- A release's dossier: which one was written, who signed it, and whether a release may be shown without.

-- The signature in force of each release: the newest one.
CREATE OR REPLACE VIEW ctl.signed AS
SELECT DISTINCT ON (d.release) d.release, s.id AS signature_id, s.dossier, s.who, s.conclusion, s.reason, s.reassess_by,
       s.public_key, s.signature, s.at,
       s.reassess_by < CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date) AS lapsed
FROM ctl.signature s JOIN ctl.dossier d ON d.digest = s.dossier
ORDER BY d.release, s.id DESC;

-- What analysts see of it: the conclusion on the release that they read, and until when it holds. Not who signed.
CREATE OR REPLACE VIEW quality.determination WITH (security_barrier) AS
SELECT r.release, s.conclusion, s.dossier, CAST(s.at AS date) AS signed_on, s.reassess_by,
       CASE WHEN s.release IS NULL THEN 'not determined' WHEN s.lapsed THEN 'lapsed' ELSE 'in force' END AS standing
FROM ctl.release r LEFT JOIN ctl.signed s ON s.release = r.release
WHERE r.active;

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.dossier_writing
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();

-- The dossier of each release that was written last, be it for the first time or again.
CREATE OR REPLACE VIEW ctl.newest_dossier AS
SELECT DISTINCT ON (d.release) d.release, w.digest
FROM ctl.dossier_writing w JOIN ctl.dossier d ON d.digest = w.digest
ORDER BY d.release, w.id DESC;

CREATE OR REPLACE FUNCTION ctl.record_dossier(p_release text, p_digest text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ctl.release r WHERE r.release = p_release) THEN
        RAISE EXCEPTION 'no such release' USING ERRCODE = 'DG011';
    ELSIF EXISTS (SELECT 1 FROM ctl.dossier d WHERE d.digest = p_digest AND d.release <> p_release) THEN
        RAISE EXCEPTION 'of another release' USING ERRCODE = 'DG011';
    END IF;
    -- One after the other, and no signature in between. Not by an advisory lock, which any login could hold.
    LOCK TABLE ctl.dossier_writing IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT 1 FROM ctl.newest_dossier n WHERE (n.release, n.digest) = (p_release, p_digest)) THEN
        RETURN;
    END IF;
    INSERT INTO ctl.dossier (digest, release) VALUES (p_digest, p_release) ON CONFLICT DO NOTHING;
    INSERT INTO ctl.dossier_writing (digest) VALUES (p_digest);
    INSERT INTO ctl.ledger (event, release) VALUES ('dossier', p_release);
END $$;

-- Records what a person concludes from a dossier. Signed is only the newest dossier of a release: an older one may lack
-- what has been measured since.
CREATE OR REPLACE FUNCTION ctl.sign_dossier(
    p_digest text, p_who text, p_conclusion text, p_reason text, p_reassess_by date, p_public_key text, p_signature text
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_release text;
BEGIN
    SELECT d.release INTO v_release FROM ctl.dossier d WHERE d.digest = p_digest;
    IF v_release IS NULL THEN
        RAISE EXCEPTION 'no such dossier' USING ERRCODE = 'DG011';
    END IF;
    LOCK TABLE ctl.dossier_writing IN SHARE ROW EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT 1 FROM ctl.newest_dossier n WHERE (n.release, n.digest) = (v_release, p_digest)) THEN
        RAISE EXCEPTION 'a newer dossier of the release was written' USING ERRCODE = 'DG011';
    END IF;
    PERFORM ctl.require_who_and_why(p_who, p_reason);
    IF p_reassess_by IS NULL OR p_reassess_by <= CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date) THEN
        RAISE EXCEPTION 'until' USING ERRCODE = 'DG003';
    END IF;
    INSERT INTO ctl.signature (dossier, who, conclusion, reason, reassess_by, public_key, signature)
    VALUES (p_digest, btrim(p_who), p_conclusion, btrim(p_reason), p_reassess_by, p_public_key, p_signature);
    INSERT INTO ctl.ledger (event, release, requirements, who, reason)
    VALUES ('signed', v_release, ARRAY[p_conclusion], btrim(p_who), btrim(p_reason));
    RETURN v_release;
END $$;

-- Where the profile asks for it, a release is shown only while somebody has concluded that it is fit. Not granted to
-- anyone: what shows a release calls it.
CREATE OR REPLACE FUNCTION ctl.require_dossier(p_release text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM ctl.profile p WHERE p.active AND p.signed_dossier) AND NOT EXISTS (
        SELECT 1 FROM ctl.signed s WHERE s.release = p_release AND s.conclusion <> 'unfit' AND NOT s.lapsed) THEN
        RAISE EXCEPTION 'no signed dossier' USING ERRCODE = 'DG012';
    END IF;
END $$;
