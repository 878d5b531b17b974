-- How well each kind of identifier is found: one row a detector, gold, locale, inputs, label and measure.
with newest as (
    select distinct on (detector_digest, gold, locale, inputs, subject, measure) *
    from {{ ref('figures') }}
    where family = 'words' and subject = upper(subject)
    order by detector_digest, gold, locale, inputs, subject, measure, at desc
)

select
    detector, detector_digest, gold, locale, inputs, subject as label, measure, value, low, high, n, suppressed,
    cast(at at time zone 'UTC' as date) as measured_on, notes_of, topics_of, marked_by
from newest
order by detector, detector_digest, gold, locale, inputs, label, measure
