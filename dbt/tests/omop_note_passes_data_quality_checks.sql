{{ config(severity='warn') }}
-- OHDSI's Data Quality Dashboard for the table NOTE, CDM 5.4 (OMOP_CDMv5.4_Field_Level.csv): those of its checks that
-- need no other table, with its thresholds, in one reading. A row is the name of a check that fails. It warns, since old
-- or undated notes say nothing against the marts.
--
-- Not here: types and lengths (cdmField, cdmDatatype), which the view fixes; isForeignKey, plausibleAfterBirth,
-- plausibleBeforeDeath, withinVisitDates and measurePersonCompleteness, since there is no table of persons, providers,
-- visits or concepts beside it; plausibleValueHigh, since shifted dates may lie ahead.
with counted as (
    select
        count(*) as notes,
        count(distinct note_id) as note_ids,
        {% for column in ['note_id', 'person_id', 'note_date', 'note_type_concept_id', 'note_class_concept_id', 'note_text',
                          'encoding_concept_id', 'language_concept_id'] %}
        count(*) filter (where {{ column }} is null) as missing_{{ column }},
        {% endfor %}
        -- Without a vocabulary: the concepts that the view may name; 0, no matching concept, is none.
        count(*) filter (where note_type_concept_id <> 32817) as other_note_type,
        count(*) filter (where note_class_concept_id <> 0) as other_note_class,
        count(*) filter (where encoding_concept_id <> 32678) as other_encoding,
        count(*) filter (where language_concept_id not in (0, 4180186)) as other_language,
        count(*) filter (where note_date < date '1950-01-01') as early_date,
        count(*) filter (where note_datetime < timestamp '1950-01-01') as early_datetime
    from {{ source('omop', 'note') }}
),

checks as (
    {% for column in ['note_id', 'person_id', 'note_date', 'note_type_concept_id', 'note_class_concept_id', 'note_text',
                      'encoding_concept_id', 'language_concept_id'] %}
    select 'isRequired {{ column }}' as failed, missing_{{ column }} as violations, 0 as most_percent, notes from counted
    union all
    {% endfor %}
    select 'isPrimaryKey note_id', notes - note_ids, 0, notes from counted
    union all
    select 'fkDomain note_type_concept_id', other_note_type, 0, notes from counted
    union all
    select 'isStandardValidConcept note_class_concept_id', other_note_class, 0, notes from counted
    union all
    select 'isStandardValidConcept encoding_concept_id', other_encoding, 0, notes from counted
    union all
    select 'isStandardValidConcept language_concept_id', other_language, 0, notes from counted
    union all
    select 'plausibleValueLow note_date', early_date, 1, notes from counted
    union all
    select 'plausibleValueLow note_datetime', early_datetime, 1, notes from counted
)

select failed
from checks
where 100.0 * violations > most_percent * notes
