-- How well identifiers are found by locale, sex and length of note, and of the labels that a peer claims, beside all; and
-- words of names by sex, popularity, decade and other meanings, beside all names.
with newest as (
    select distinct on (detector_digest, gold, locale, inputs, subject, measure)
        figures.*,
        case
            when subject like 'locale %' then 'locale'
            when subject like 'sex %' then 'sex'
            when subject like '% words%' and family = 'length' then 'length'
            when subject like '% tokens%' then 'length in tokens'
            when subject like 'claimed by %' then 'claimed by'
            when subject like 'names sex %' then 'names by sex'
            when subject in ('names popular', 'names usual', 'names rare') then 'names by popularity'
            when subject like 'names % 1970' then 'names by decade'
            when subject like 'names that are %' then 'names by meaning'
        end as grouped_by
    from {{ ref('figures') }} as figures
    where
        family in ('words', 'length', 'names') and measure <> 'labels_claimed'
        or family = 'tokens' and measure = 'f1_patient_only'
    order by detector_digest, gold, locale, inputs, subject, measure, at desc
)

select
    part.detector, part.detector_digest, part.gold, part.locale, part.inputs, part.grouped_by,
    regexp_replace(part.subject, '^(names )?(locale |sex |claimed by )?', '') as group_name,
    part.measure, part.value, part.low, part.high, part.n, part.suppressed,
    -- Of what is shown of both.
    round(cast(part.value - whole.value as numeric), 4)::double precision as less_all,
    cast(part.at at time zone 'UTC' as date) as measured_on, part.notes_of, part.topics_of, part.marked_by
from newest as part
left join newest as whole
    on whole.detector_digest = part.detector_digest and whole.gold = part.gold and whole.locale = part.locale
    and whole.inputs = part.inputs and whole.measure = part.measure
    and whole.subject = case when part.family = 'names' then 'names' else 'ALL' end
where part.grouped_by is not null
order by detector, detector_digest, gold, locale, inputs, grouped_by, group_name, measure
