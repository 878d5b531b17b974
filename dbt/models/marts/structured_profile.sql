-- Which tables there are beside the notes, and how many rows and patients each has.
--
-- Counted site by site, as in note_profile: a part of fewer than 11 rows adds nothing, not even a row.
with part as (
    select
        site,
        table_name,
        {{ shown('count(*)') }} as row_count,
        {{ shown('count(distinct patient_key)') }} as patients
    from {{ source('research', 'structured') }}
    group by site, table_name
)

select
    table_name,
    cast(sum(row_count) as bigint) as row_count,
    cast(sum(patients) as bigint) as patients,
    bool_or(patients is null) as suppressed
from part
where row_count is not null
group by 1
order by table_name
