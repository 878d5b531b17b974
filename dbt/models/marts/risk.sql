-- What is left of the identifiers, and what somebody could do with it.
select
    detector, detector_digest, policy_digest, gold, locale, inputs, family, subject, measure, value, low, high, n,
    suppressed, cast(at at time zone 'UTC' as date) as measured_on, notes_of, topics_of, marked_by
from {{ ref('figures') }}
where family in ('residue', 'disclosure', 'linkage', 'plain sight', 'missed')
    or (family = 'words' and measure = 'leak_rate')
order by detector, detector_digest, policy_digest, gold, locale, inputs, family, subject, measure
