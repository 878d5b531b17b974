-- Nothing is published in a language in which nobody measured the detector. In production the privacy officer may answer
-- for the shipped languages until the site has gold of its own; of a language without any figure there is no gate row.
INSERT INTO ctl.requirement (profile, requirement, waivable) VALUES
    ('demo', 'languages', false),
    ('production', 'languages', true);
