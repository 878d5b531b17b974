-- What is left of the medicine, and of tasks that are learnt from the notes.
select
    detector, detector_digest, policy_digest, gold, locale, inputs, family, subject, measure, value, low, high, n,
    suppressed, cast(at at time zone 'UTC' as date) as measured_on, notes_of, topics_of, marked_by
from {{ ref('figures') }}
where family in ('retention', 'utility') or (family = 'words' and measure in ('words_kept', 'clinical_retention'))
order by detector, detector_digest, policy_digest, gold, locale, inputs, family, subject, measure
