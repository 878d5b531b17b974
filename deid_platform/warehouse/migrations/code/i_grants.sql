-- Who may do what. Whatever is not granted here is refused.

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ctl, extracts FROM PUBLIC;

GRANT USAGE ON SCHEMA staging TO loader, gatekeeper;
GRANT USAGE ON SCHEMA ctl TO loader, gatekeeper, promoter, officer;
GRANT USAGE ON SCHEMA research TO analyst, deid_modeller;
GRANT USAGE ON SCHEMA omop TO analyst;
GRANT USAGE ON SCHEMA limited TO limited_analyst;
GRANT USAGE ON SCHEMA quality TO gatekeeper, officer, analyst, deid_modeller;
GRANT USAGE ON SCHEMA marts TO analyst;
GRANT USAGE, CREATE ON SCHEMA marts TO deid_modeller;

GRANT SELECT, INSERT, DELETE ON staging.note, staging.withdrawal TO loader;
GRANT EXECUTE ON FUNCTION ctl.begin_staging, ctl.finish_staging, ctl.announce_opt_outs TO loader;

GRANT SELECT ON staging.note, staging.withdrawal TO gatekeeper;
GRANT SELECT ON ctl.profile, ctl.requirement, ctl.release, ctl.delivery, ctl.publication, ctl.gate, ctl.waiver,
    ctl.waiver_end, ctl.ledger, ctl.finding, ctl.finding_withdrawal, ctl.withdrawn_finding,
    ctl.alembic_version TO gatekeeper;
-- Not actor, not at: the server says who wrote a row and when.
GRANT INSERT (delivery, requirement, staged_digest, detector_digest, inputs, profile, passed, measured, known)
    ON ctl.gate TO gatekeeper;
GRANT SELECT ON quality.score TO gatekeeper;
GRANT INSERT (detector_digest, gold, inputs, label, measure, value, low, high, n) ON quality.score TO gatekeeper;
GRANT EXECUTE ON FUNCTION ctl.staged_digest, ctl.staged_counts, ctl.gate_state, ctl.count_again, ctl.reported_since
    TO gatekeeper;
GRANT SELECT ON ctl.hiding TO gatekeeper, officer;

GRANT SELECT ON ctl.profile, ctl.requirement, ctl.release, ctl.delivery, ctl.publication, ctl.gate, ctl.waiver,
    ctl.waiver_end, ctl.ledger, ctl.finding, ctl.finding_withdrawal, ctl.withdrawn_finding, ctl.project, ctl.project_grant,
    ctl.project_member, ctl.access_log, ctl.alembic_version
    TO officer;
GRANT EXECUTE ON FUNCTION ctl.gate_state, ctl.notes_shown, ctl.waive, ctl.preview, ctl.retract, ctl.withdraw_finding,
    ctl.retract_note, ctl.switch_release, ctl.diff_releases, ctl.set_project, ctl.grant_project, ctl.set_member, ctl.end_sessions,
    ctl.end_waiver, ctl.delete_project, ctl.holds_notes TO officer;

GRANT EXECUTE ON FUNCTION ctl.promote, ctl.hide, ctl.hide_notes, ctl.activate_release, ctl.expire_releases, ctl.forget_expired,
    ctl.set_opt_outs, ctl.end_idle_readers, ctl.withdraw_finding TO promoter;

GRANT SELECT ON research.notes TO analyst, deid_modeller;
GRANT SELECT ON omop.note TO analyst;
GRANT SELECT ON limited.notes TO limited_analyst;
-- A view asks whoever reads it for the functions in it. Without USAGE on the schema it cannot be called otherwise.
GRANT EXECUTE ON FUNCTION ctl.log_access TO analyst, deid_modeller, limited_analyst;
GRANT SELECT ON quality.scores TO analyst, deid_modeller, officer;

GRANT EXECUTE ON FUNCTION ctl.withdraw, ctl.mark_read, ctl.marked_read TO promoter;
GRANT EXECUTE ON FUNCTION ctl.withdrawn_ahead TO officer, gatekeeper;
GRANT EXECUTE ON FUNCTION ctl.release_notes TO officer;

GRANT INSERT (detector, detector_digest, policy_digest, gold, locale, inputs, family, subject, measure, value, low, high, n)
    ON quality.lab_score TO gatekeeper;
GRANT SELECT ON quality.lab_scores, quality.determination TO analyst, deid_modeller, officer;
GRANT SELECT ON quality.score_history TO deid_modeller, officer;
GRANT SELECT ON ctl.dossier, ctl.dossier_writing, ctl.newest_dossier, ctl.signature, ctl.signed, ctl.verified_signature,
    ctl.signer TO officer;
GRANT EXECUTE ON FUNCTION ctl.record_dossier, ctl.sign_dossier TO officer;

GRANT SELECT ON ctl.held_out_set, ctl.held_out_note, ctl.look, ctl.held_out TO gatekeeper, officer;
GRANT SELECT ON ctl.held_out_source, ctl.look_source TO gatekeeper, officer;
GRANT EXECUTE ON FUNCTION ctl.seal_held_out, ctl.name_source, ctl.record_look TO gatekeeper;
GRANT INSERT (look) ON quality.score, quality.lab_score TO gatekeeper;
GRANT INSERT (judge) ON quality.lab_score TO gatekeeper;
GRANT INSERT (digest, model, prompt, prompt_digest) ON quality.judge TO gatekeeper;
GRANT SELECT ON quality.judge TO gatekeeper, officer;
GRANT SELECT ON quality.held_out_sets TO analyst, deid_modeller, officer;

GRANT SELECT ON ctl.removal_decision, ctl.missed_identifier, ctl.ruling, ctl.marked_note, ctl.mark_dismissal
    TO gatekeeper, officer;
GRANT EXECUTE ON FUNCTION ctl.name_marked, ctl.open_marks, ctl.dismiss_mark TO officer;
GRANT EXECUTE ON FUNCTION ctl.enter_decision, ctl.enter_missed, ctl.rule TO officer;
GRANT EXECUTE ON FUNCTION ctl.rule TO promoter;
GRANT USAGE ON SCHEMA extracts TO analyst, limited_analyst;
GRANT EXECUTE ON FUNCTION extracts.begin_extract, extracts.add_notes, extracts.close_extract, extracts.standing,
    extracts.unrecorded TO analyst, limited_analyst;
GRANT EXECUTE ON FUNCTION ctl.extract_standing, ctl.extracts_holding, ctl.end_extract TO officer;
GRANT EXECUTE ON FUNCTION ctl.name_extracts TO officer, promoter;

-- The quality checks of omop.note run as the modeller (dbt/tests).
GRANT USAGE ON SCHEMA omop TO deid_modeller;
GRANT SELECT ON omop.note TO deid_modeller;
