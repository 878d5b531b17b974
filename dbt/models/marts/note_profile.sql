-- What kinds of notes there are, from when, and how long they are.
with counted as (
    select
        coalesce(note_type, 'unknown') as note_type,
        note_year,
        count(*) as notes,
        count(distinct patient_key) as patients,
        avg(cardinality(regexp_split_to_array(btrim(text, E' \t\r\n'), '\s+'))) as mean_words
    from {{ source('research', 'notes') }}
    group by 1, 2
)

select
    note_type,
    note_year,
    {{ shown('notes') }} as notes,
    {{ shown('patients') }} as patients,
    -- A mean over a handful of notes says how long each is.
    case when {{ shown('notes') }} is not null then round(mean_words, 1) end as mean_words,
    notes < {{ var('smallest_shown_count') }} or patients < {{ var('smallest_shown_count') }} as suppressed
from counted
-- What the rows say, not when a note came in, is their order.
order by note_type, note_year
