-- How well each kind of identifier is found: one row a detector, gold, locale, inputs, label and measure.
select
    detector, detector_digest, gold, locale, inputs, subject as label, measure, value, low, high, n, suppressed,
    cast(at at time zone 'UTC' as date) as measured_on
from {{ ref('figures') }}
where family = 'words' and (subject = 'ALL' or subject = upper(subject))
order by detector, detector_digest, gold, locale, inputs, label, measure
