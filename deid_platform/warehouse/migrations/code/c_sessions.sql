-- Ending readers' connections: of those who may no longer read, and of those who hold things up.

-- Readers are the logins that belong to `analyst` or `limited_analyst`. The owner ends their connections by its
-- membership in pg_signal_backend, which `deid db bootstrap` grants it.
CREATE OR REPLACE FUNCTION ctl.reader_sessions()
RETURNS TABLE (pid integer, login text, idle_for interval, open_for interval)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.pid, a.usename::text,
           CASE WHEN a.state LIKE 'idle in transaction%' THEN clock_timestamp() - a.state_change END,
           clock_timestamp() - a.xact_start
    FROM pg_stat_activity a JOIN pg_roles r ON r.oid = a.usesysid
    WHERE a.datname = current_database() AND NOT r.rolsuper
      AND (pg_has_role(r.oid, 'analyst', 'MEMBER') OR pg_has_role(r.oid, 'limited_analyst', 'MEMBER'))
$$;

-- Ends every connection of these logins, if they are readers': a transaction that is open keeps seeing what was granted
-- when it began. Returns how many; NULL where the owner may end none.
CREATE OR REPLACE FUNCTION ctl.end_sessions(p_logins text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*) FILTER (WHERE pg_terminate_backend(s.pid, 5000)) FROM ctl.reader_sessions() s
            WHERE s.login = ANY (p_logins));
EXCEPTION WHEN insufficient_privilege THEN
    RETURN NULL;
END $$;

-- Ends readers' transactions that have been idle for so long, and those that have gone on for longer still: each goes on
-- seeing what has been hidden since. A reader may set idle_in_transaction_session_timeout as it likes; this it cannot set.
-- Returns how many; NULL where the owner may end none.
CREATE OR REPLACE FUNCTION ctl.end_idle_readers(p_idle interval, p_open interval) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*) FILTER (WHERE pg_terminate_backend(s.pid)) FROM ctl.reader_sessions() s
            WHERE s.idle_for > p_idle OR s.open_for > p_open);
EXCEPTION WHEN insufficient_privilege THEN
    RETURN NULL;
END $$;
