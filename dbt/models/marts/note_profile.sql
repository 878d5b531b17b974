-- What kinds of notes there are, from when, and how long they are.
--
-- A project is granted sites and note types. Whoever reads some of a row's notes knows those exactly, and could take them
-- away from a count of all. So each site and note type is a part of its own, which alone decides what is shown of it, and a
-- row is made of nothing but what is shown of its parts: what is left after such a subtraction is what the others' parts
-- show. A part of fewer than 11 notes adds nothing, not even a row.
with part as (
    select
        site,
        note_type,
        note_year,
        {{ shown('count(*)') }} as notes,
        {{ shown('count(distinct patient_key)') }} as patients,
        round(avg(cardinality(regexp_split_to_array(btrim(text, E' \t\r\n'), '\s+')))) as mean_words
    from {{ source('research', 'notes') }}
    group by site, note_type, note_year
)

select
    coalesce(note_type, 'unknown') as note_type,
    note_year,
    cast(sum(notes) as bigint) as notes,
    cast(sum(patients) as bigint) as patients,
    -- Of rounded means and rounded counts, so that neither tells more of the other.
    cast(round(sum(notes * mean_words) / sum(notes)) as bigint) as mean_words,
    bool_or(patients is null) as suppressed
from part
where notes is not null
group by 1, 2
-- What the rows say, not when a note came in, is their order.
order by note_type, note_year
