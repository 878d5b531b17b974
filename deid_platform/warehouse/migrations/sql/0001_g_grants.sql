-- Who may do what. Whatever is not granted here is refused.

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ctl FROM PUBLIC;

GRANT USAGE ON SCHEMA staging TO loader, gatekeeper;
GRANT USAGE ON SCHEMA ctl TO loader, gatekeeper, promoter, officer;
GRANT USAGE ON SCHEMA research TO analyst, deid_modeller;
GRANT USAGE ON SCHEMA quality TO gatekeeper, officer, analyst, deid_modeller;
GRANT USAGE ON SCHEMA marts TO analyst;
GRANT USAGE, CREATE ON SCHEMA marts TO deid_modeller;

GRANT SELECT, INSERT, DELETE ON staging.note, staging.withdrawn_patient TO loader;
GRANT EXECUTE ON FUNCTION ctl.begin_staging, ctl.finish_staging TO loader;

GRANT SELECT ON staging.note, staging.withdrawn_patient TO gatekeeper;
GRANT SELECT ON ALL TABLES IN SCHEMA ctl TO gatekeeper, officer;
-- Not actor, not at: the server says who wrote a row and when.
GRANT INSERT (delivery, requirement, staged_digest, detector_digest, inputs, profile, passed, measured)
    ON ctl.gate TO gatekeeper;
GRANT SELECT ON quality.score TO gatekeeper;
GRANT INSERT (detector_digest, gold, inputs, label, measure, value, low, high, n) ON quality.score TO gatekeeper;
GRANT EXECUTE ON FUNCTION ctl.staged_digest, ctl.staged_counts, ctl.gate_state TO gatekeeper;
GRANT EXECUTE ON FUNCTION ctl.gate_state, ctl.waive TO officer;

GRANT EXECUTE ON FUNCTION ctl.promote, ctl.hide, ctl.activate_release TO promoter;

GRANT SELECT ON research.notes TO analyst, deid_modeller;
GRANT SELECT ON quality.scores TO analyst, deid_modeller, officer;
