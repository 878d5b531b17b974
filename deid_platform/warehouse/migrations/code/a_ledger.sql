-- The ledger: entries only ever arrive, and every gate row, waiver and change makes one.

CREATE OR REPLACE FUNCTION ctl.forbid_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'append only' USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.ledger
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.gate
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.waiver
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.waiver_end
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.finding
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.finding_withdrawal
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON ctl.access_log
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
-- A row of it counts one read more, and changes in nothing else.
CREATE OR REPLACE FUNCTION ctl.count_reads() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.reads <> OLD.reads + 1 OR NEW.last_at IS NULL OR NEW.last_at < coalesce(OLD.last_at, OLD.at)
       OR to_jsonb(NEW) - 'reads' - 'last_at' <> to_jsonb(OLD) - 'reads' - 'last_at' THEN
        RAISE EXCEPTION 'append only' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER count_reads BEFORE UPDATE ON ctl.access_log
    FOR EACH ROW EXECUTE FUNCTION ctl.count_reads();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.verified_signature
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.dossier
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.signature
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON quality.lab_score
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON quality.judge
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON quality.score
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.held_out_set
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.held_out_note
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.look
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.held_out_source
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.extract
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.extract_note
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ctl.extract_end
    FOR EACH STATEMENT EXECUTE FUNCTION ctl.forbid_change();

CREATE OR REPLACE FUNCTION ctl.enter_gate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO ctl.ledger (event, delivery, requirements, counts)
    VALUES (CASE WHEN NEW.passed THEN 'gate-passed' ELSE 'gate-failed' END,
            NEW.delivery, ARRAY[NEW.requirement], NEW.measured);
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER in_ledger AFTER INSERT ON ctl.gate FOR EACH ROW EXECUTE FUNCTION ctl.enter_gate();

-- Without the white space around it, as Python strips it: the same name is the same person.
CREATE OR REPLACE FUNCTION ctl.trimmed(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT btrim(p_text, E' \t\n\u000b\f\r\u001c\u001d\u001e\u001f\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006'
        || E'\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000')
$$;

-- A person's name is a line that is read as it stands: no control characters, and none that turns the writing round.
CREATE OR REPLACE FUNCTION ctl.require_who(p_who text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF coalesce(ctl.trimmed(p_who), '') = ''
       OR ctl.trimmed(p_who) ~ '[\u0001-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]' THEN
        RAISE EXCEPTION 'who' USING ERRCODE = 'DG003';
    END IF;
END $$;

-- Every decision of a person has a name and a reason: the ledger is nothing without them.
CREATE OR REPLACE FUNCTION ctl.require_who_and_why(p_who text, p_reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM ctl.require_who(p_who);
    IF p_reason IS NULL OR length(ctl.trimmed(p_reason)) < 10 THEN
        RAISE EXCEPTION 'reason' USING ERRCODE = 'DG003';
    END IF;
END $$;
