-- Of each kind, a key has one number: the planner has no statistics of what stands behind a view and goes by uniqueness,
-- which it does not see in the key of two columns. Without these indexes it takes a key to be one of 200, and compares
-- every note of omop.note with every number.
CREATE UNIQUE INDEX number_of_note ON research.number (key) WHERE kind = 'note';
CREATE UNIQUE INDEX number_of_patient ON research.number (key) WHERE kind = 'patient';
CREATE UNIQUE INDEX number_of_provider ON research.number (key) WHERE kind = 'provider';
CREATE UNIQUE INDEX number_of_encounter ON research.number (key) WHERE kind = 'encounter';
