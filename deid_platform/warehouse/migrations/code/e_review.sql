-- The reviewer's desk: what people decide there enters the ledger, and nobody changes it afterwards.

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.removal_decision
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.missed_identifier
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.ruling
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();

-- Enters a decision on a removal; what stands already has to be the same.
CREATE OR REPLACE FUNCTION ctl.enter_decision(
    p_round integer, p_role text, p_n integer, p_removal text, p_category text, p_severity text, p_who text,
    p_at timestamptz
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- One after the other, so that none is missing before another. Not by an advisory lock, which any login could hold.
    LOCK TABLE ctl.removal_decision IN SHARE ROW EXCLUSIVE MODE;
    IF p_n <> 1 AND NOT EXISTS (
        SELECT 1 FROM ctl.removal_decision d WHERE (d.round, d.role, d.n) = (p_round, p_role, p_n - 1)) THEN
        RAISE EXCEPTION 'round %, %', p_round, p_role USING ERRCODE = 'DG017';
    END IF;
    INSERT INTO ctl.removal_decision (round, role, n, removal, category, severity, who, decided_at)
    VALUES (p_round, p_role, p_n, p_removal, p_category, p_severity, p_who, p_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND AND NOT EXISTS (
        SELECT 1 FROM ctl.removal_decision d
        WHERE (d.round, d.role, d.n, d.removal, d.who, d.decided_at) = (p_round, p_role, p_n, p_removal, p_who, p_at)
          AND (d.category, d.severity) IS NOT DISTINCT FROM (p_category, p_severity)) THEN
        RAISE EXCEPTION 'round %, %', p_round, p_role USING ERRCODE = 'DG017';
    END IF;
END $$;

-- Enters a mark of a missed identifier; what stands already has to be the same.
CREATE OR REPLACE FUNCTION ctl.enter_missed(
    p_round integer, p_role text, p_n integer, p_removal text, p_missed text, p_label text, p_severity text, p_who text,
    p_at timestamptz
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    LOCK TABLE ctl.missed_identifier IN SHARE ROW EXCLUSIVE MODE;
    IF p_n <> 1 AND NOT EXISTS (
        SELECT 1 FROM ctl.missed_identifier d WHERE (d.round, d.role, d.n) = (p_round, p_role, p_n - 1)) THEN
        RAISE EXCEPTION 'round %, %', p_round, p_role USING ERRCODE = 'DG017';
    END IF;
    INSERT INTO ctl.missed_identifier (round, role, n, removal, missed, label, severity, who, decided_at)
    VALUES (p_round, p_role, p_n, p_removal, p_missed, p_label, p_severity, p_who, p_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND AND NOT EXISTS (
        SELECT 1 FROM ctl.missed_identifier d
        WHERE (d.round, d.role, d.n, d.removal, d.missed, d.who, d.decided_at)
            = (p_round, p_role, p_n, p_removal, p_missed, p_who, p_at)
          AND (d.label, d.severity) IS NOT DISTINCT FROM (p_label, p_severity)) THEN
        RAISE EXCEPTION 'round %, %', p_round, p_role USING ERRCODE = 'DG017';
    END IF;
END $$;

-- Enters what somebody decides about a quarantined note, and says whether they are the second person who decides the
-- very same: another person, by another login. Whether one is enough is judged where the spans lie, at the refresh.
CREATE OR REPLACE FUNCTION ctl.rule(
    p_feed text, p_note_key text, p_ruling text, p_action text, p_held_for text, p_who text, p_person text,
    p_reason text, OUT turn smallint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_last ctl.ruling;
    v_id bigint;
BEGIN
    IF coalesce(p_person, '') = '' THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG003';
    END IF;
    PERFORM ctl.require_who_and_why(p_who, p_reason);
    LOCK TABLE ctl.ruling IN SHARE ROW EXCLUSIVE MODE; -- one after the other
    SELECT * INTO v_last FROM ctl.ruling r WHERE (r.feed, r.note_key) = (p_feed, p_note_key) ORDER BY r.id DESC LIMIT 1;
    turn := 1;
    IF (v_last.ruling, v_last.action) = (p_ruling, p_action) THEN
        turn := 2;
        IF v_last.turn = 2 THEN
            RETURN; -- decided already
        ELSIF p_person = v_last.person OR ctl.trimmed(p_who) = v_last.who OR v_last.actor = session_user THEN
            RAISE EXCEPTION '%', p_note_key USING ERRCODE = 'DG010';
        END IF;
    END IF;
    INSERT INTO ctl.ruling (feed, note_key, ruling, action, held_for, turn, who, person, reason)
    VALUES (p_feed, p_note_key, p_ruling, p_action, p_held_for, turn, ctl.trimmed(p_who), p_person, ctl.trimmed(p_reason))
    RETURNING id INTO v_id;
    INSERT INTO ctl.ledger (event, requirements, who, reason, counts)
    VALUES ('ruled', ARRAY[p_action, p_held_for], ctl.trimmed(p_who), ctl.trimmed(p_reason),
            jsonb_build_object('ruling', v_id, 'turn', turn));
END $$;
