-- The NOTE table of the OMOP common data model 5.4, as a view on what analysts see. Its columns, types and what may
-- be empty are the model's; what a note lacks that the model demands keeps it out of here (not out of research.notes).

CREATE OR REPLACE VIEW omop.note WITH (security_barrier) AS
SELECT note.number AS note_id,
       patient.number AS person_id,
       -- Where the policy shows a year alone, its first day stands for it, as is the model's custom.
       coalesce(n.shifted_date, make_date(n.note_year, 1, 1)) AS note_date,
       CAST(n.shifted_date AS timestamp) AS note_datetime,
       32817 AS note_type_concept_id, -- EHR
       0 AS note_class_concept_id, -- no matching concept: a site's note types are its own
       CAST(left(n.note_type, 250) AS varchar(250)) AS note_title,
       n.text AS note_text,
       32678 AS encoding_concept_id, -- UTF-8
       CASE WHEN n.language = 'en' OR n.language LIKE 'en-%' THEN 4180186 ELSE 0 END AS language_concept_id,
       provider.number AS provider_id,
       encounter.number AS visit_occurrence_id,
       CAST(NULL AS integer) AS visit_detail_id,
       CAST(n.note_key AS varchar(50)) AS note_source_value,
       CAST(NULL AS integer) AS note_event_id,
       CAST(NULL AS integer) AS note_event_field_concept_id
FROM research.notes n
JOIN research.number note ON note.kind = 'note' AND note.key = n.note_key
JOIN research.number patient ON patient.kind = 'patient' AND patient.key = n.patient_key
LEFT JOIN research.number provider ON provider.kind = 'provider' AND provider.key = n.provider_key
LEFT JOIN research.number encounter ON encounter.kind = 'encounter' AND encounter.key = n.encounter_key
WHERE coalesce(n.shifted_date, make_date(n.note_year, 1, 1)) IS NOT NULL
-- Joined, rows would come as any of the tables has them.
ORDER BY note.number;

