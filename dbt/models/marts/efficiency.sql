-- Speed, memory and money beside recall: one row a detector, gold, locale and inputs that was timed.
with newest as (
    select distinct on (detector_digest, gold, locale, inputs, family, measure) *
    from {{ ref('figures') }}
    where subject = 'ALL' and (family = 'cost' or (family = 'words' and measure in ('recall', 'precision')))
    order by detector_digest, gold, locale, inputs, family, measure, at desc
)

select
    max(detector) as detector, detector_digest, gold, locale, inputs,
    {% for measure in ['words_per_second', 'seconds_per_note', 'gpu_seconds_per_note', 'peak_mb', 'cost_per_10000_notes'] %}
    max(value) filter (where family = 'cost' and measure = '{{ measure }}') as {{ measure }},
    {% endfor %}
    max(value) filter (where family = 'words' and measure = 'recall') as recall,
    max(n) filter (where family = 'words' and measure = 'recall') as words,
    cast(max(at) filter (where family = 'cost') at time zone 'UTC' as date) as measured_on,
    {{ newest_source() }}
from newest
group by detector_digest, gold, locale, inputs
having bool_or(family = 'cost')
order by 1, 2, 3, 4, 5
