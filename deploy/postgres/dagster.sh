#!/bin/sh
# Makes the role and the database of Dagster's own storage, beside the warehouse and closed to its roles, as are the server's
# own databases.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --quiet --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\set password `cat "${DAGSTER_PG_PASSWORD_FILE:-/run/secrets/dagster_password}"`
SET password_encryption = 'scram-sha-256';
CREATE ROLE dagster LOGIN PASSWORD :'password';
CREATE DATABASE dagster OWNER dagster;
REVOKE ALL ON DATABASE dagster, postgres, template1 FROM PUBLIC;
SQL
