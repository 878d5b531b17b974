-- A release's dossier: which one was written, who signed it, and whether a release may be shown without.

-- The signature in force of each release: the newest one. Valid: the server verified it, and its key is a signer's, who
-- signs in that name alone, where the administrator named any.
CREATE OR REPLACE VIEW ctl.signed AS
SELECT DISTINCT ON (d.release) d.release, s.id AS signature_id, s.dossier, s.who, s.conclusion, s.reason, s.reassess_by,
       s.public_key, s.signature, s.at,
       s.reassess_by < CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date) AS lapsed,
       EXISTS (SELECT 1 FROM ctl.verified_signature v WHERE v.signature = s.id)
       AND (NOT EXISTS (SELECT 1 FROM ctl.signer)
            OR EXISTS (SELECT 1 FROM ctl.signer k
                       WHERE k.public_key = s.public_key AND k.who = s.who
                         AND (k.ended_at IS NULL OR k.ended_at > s.at))) AS valid
FROM ctl.signature s JOIN ctl.dossier d ON d.digest = s.dossier
ORDER BY d.release, s.id DESC;

-- What analysts see of it: the conclusion on the release that they read, and until when it holds. Not who signed.
CREATE OR REPLACE VIEW quality.determination WITH (security_barrier) AS
SELECT r.release, s.conclusion, s.dossier, CAST(s.at AS date) AS signed_on, s.reassess_by,
       CASE WHEN s.release IS NULL THEN 'not determined' WHEN NOT s.valid THEN 'invalid'
            WHEN s.lapsed THEN 'lapsed' ELSE 'in force' END AS standing
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

-- Whether a signature is one under what a person concludes. The statement is signed as oversight/signing.py writes it:
-- JSON with its keys in order, and a blank behind each comma and colon. Key and signature are written in the one form
-- that signing gives them: no blanks, no line breaks, no other last digit.
CREATE OR REPLACE FUNCTION ctl.is_signed(
    p_release text, p_digest text, p_conclusion text, p_who text, p_reason text, p_signed_on date, p_reassess_by date,
    p_public_key text, p_signature text
) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN p_signature = ctl.as_base64(decode(p_signature, 'base64'))
        AND p_public_key = ctl.as_base64(decode(p_public_key, 'base64'))
        AND ctl.is_signature(
        convert_to(format('{"conclusion": %s, "dossier": %s, "reason": %s, "reassess_by": %s, "release": %s,'
            ' "signed_on": %s, "who": %s}',
            to_json(p_conclusion), to_json(p_digest), to_json(p_reason), to_json(to_char(p_reassess_by, 'YYYY-MM-DD')),
            to_json(p_release), to_json(to_char(p_signed_on, 'YYYY-MM-DD')), to_json(p_who)), 'UTF8'),
        decode(p_signature, 'base64'), decode(p_public_key, 'base64'));
EXCEPTION WHEN data_exception THEN -- no base64
    RETURN false;
END $$;

-- Records what a person concludes from a dossier. Signed is only the newest dossier of a release: an older one may lack
-- what has been measured since. The server verifies the signature, so that the officer's login alone determines nothing.
CREATE OR REPLACE FUNCTION ctl.sign_dossier(
    p_digest text, p_who text, p_conclusion text, p_reason text, p_signed_on date, p_reassess_by date,
    p_public_key text, p_signature text
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_today date := CAST(clock_timestamp() AT TIME ZONE 'UTC' AS date);
    v_release text;
    v_id bigint;
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
    IF p_reassess_by IS NULL OR p_reassess_by <= v_today THEN
        RAISE EXCEPTION 'until' USING ERRCODE = 'DG003';
    ELSIF p_signed_on IS NULL OR p_signed_on NOT BETWEEN v_today - 1 AND v_today + 1 THEN
        RAISE EXCEPTION 'day' USING ERRCODE = 'DG019';
    ELSIF EXISTS (SELECT 1 FROM ctl.signer) AND NOT EXISTS (
        SELECT 1 FROM ctl.signer k WHERE k.public_key = p_public_key AND k.ended_at IS NULL) THEN
        RAISE EXCEPTION 'key' USING ERRCODE = 'DG019';
    ELSIF EXISTS (SELECT 1 FROM ctl.signer) AND NOT EXISTS (
        SELECT 1 FROM ctl.signer k WHERE k.public_key = p_public_key AND k.who = ctl.trimmed(p_who)) THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG019';
    ELSIF ctl.is_signed(v_release, p_digest, p_conclusion, ctl.trimmed(p_who), ctl.trimmed(p_reason), p_signed_on, p_reassess_by,
                        p_public_key, p_signature) IS NOT TRUE THEN
        RAISE EXCEPTION 'signature' USING ERRCODE = 'DG019';
    END IF;
    INSERT INTO ctl.signature (dossier, who, conclusion, reason, reassess_by, public_key, signature)
    VALUES (p_digest, ctl.trimmed(p_who), p_conclusion, ctl.trimmed(p_reason), p_reassess_by, p_public_key, p_signature)
    RETURNING id INTO v_id;
    INSERT INTO ctl.verified_signature (signature, signed_on) VALUES (v_id, p_signed_on);
    INSERT INTO ctl.ledger (event, release, requirements, who, reason)
    VALUES ('signed', v_release, ARRAY[p_conclusion], ctl.trimmed(p_who), ctl.trimmed(p_reason));
    RETURN v_release;
END $$;

-- Signatures that were entered before the server verified any. The day that was signed is the one on which they were.
INSERT INTO ctl.verified_signature (signature, signed_on)
SELECT s.id, min(o.day) FROM ctl.signature s JOIN ctl.dossier d ON d.digest = s.dossier
CROSS JOIN LATERAL (
    SELECT CAST(s.at AT TIME ZONE 'UTC' AS date) + n.days AS day FROM (VALUES (-1), (0), (1)) n (days)) o
WHERE NOT EXISTS (SELECT 1 FROM ctl.verified_signature v WHERE v.signature = s.id)
  AND ctl.is_signed(d.release, s.dossier, s.conclusion, s.who, s.reason, o.day, s.reassess_by, s.public_key, s.signature)
GROUP BY s.id;

-- Where the profile asks for it, a release is shown only while somebody has concluded that it is fit. Not granted to
-- anyone: what shows a release calls it.
CREATE OR REPLACE FUNCTION ctl.require_dossier(p_release text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM ctl.profile p WHERE p.active AND p.signed_dossier) AND NOT EXISTS (
        SELECT 1 FROM ctl.signed s WHERE s.release = p_release AND s.conclusion <> 'unfit' AND s.valid AND NOT s.lapsed) THEN
        RAISE EXCEPTION 'no signed dossier' USING ERRCODE = 'DG012';
    END IF;
END $$;
