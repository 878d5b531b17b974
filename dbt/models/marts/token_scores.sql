-- Tokens as Aghakasiri 2025 counts them: providers as identifiers or as text, tokens hidden in part counted in three ways.
with newest as (
    select distinct on (detector_digest, gold, locale, inputs, measure) *
    from {{ ref('figures') }}
    where family = 'tokens' and subject = 'ALL'
    order by detector_digest, gold, locale, inputs, measure, at desc
)

select
    detector, detector_digest, gold, locale, inputs,
    case when measure like '%patient_only%' then 'text' else 'identifiers' end as providers,
    case
        when measure like '%two_sided' then 'two-sided'
        when measure like '%conservative' then 'conservative'
        else 'generous'
    end as hidden_in_part,
    split_part(measure, '_', 1) as measure,
    value, low, high, n, suppressed, cast(at at time zone 'UTC' as date) as measured_on,
    notes_of, topics_of, marked_by
from newest
order by detector, detector_digest, gold, locale, inputs, providers, hidden_in_part, measure
