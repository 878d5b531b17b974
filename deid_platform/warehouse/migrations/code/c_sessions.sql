-- Ending readers' connections: of those who may no longer read, and of those who hold things up.

-- What a reader locks is bounded: the server has room for so many locks in all, and without room nobody connects any more.
-- A write in each of many savepoints takes a lock for each. Whatever a reader may call that writes asks this.
CREATE OR REPLACE FUNCTION ctl.bound_locks() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (SELECT count(*) FROM pg_locks l WHERE l.pid = pg_backend_pid() AND l.locktype = 'transactionid') > 100 THEN
        RAISE EXCEPTION 'more than 100 savepoints in one transaction' USING ERRCODE = 'configuration_limit_exceeded';
    END IF;
END $$;

-- Readers are the logins that belong to `analyst` or `limited_analyst`. The owner ends their connections by its
-- membership in pg_signal_backend, which `deid db bootstrap` grants it.
DROP FUNCTION IF EXISTS ctl.reader_sessions();
CREATE FUNCTION ctl.reader_sessions()
RETURNS TABLE (pid integer, login text, idle_for interval, open_for interval, hoards boolean)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.pid, a.usename::text,
           CASE WHEN a.state LIKE 'idle in transaction%' THEN clock_timestamp() - a.state_change END,
           clock_timestamp() - a.xact_start,
           -- Where everyone may take advisory locks, one that is kept between statements serves nobody's reading.
           EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid
                   HAVING count(*) > 1000
                       OR (a.state LIKE 'idle%' AND count(*) FILTER (WHERE l.locktype = 'advisory') > 0))
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
-- Sessions that hoard locks are ended at once.
-- Returns how many; NULL where the owner may end none.
CREATE OR REPLACE FUNCTION ctl.end_idle_readers(p_idle interval, p_open interval) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*) FILTER (WHERE pg_terminate_backend(s.pid)) FROM ctl.reader_sessions() s
            WHERE s.idle_for > p_idle OR s.open_for > p_open OR s.hoards);
EXCEPTION WHEN insufficient_privilege THEN
    RETURN NULL;
END $$;
