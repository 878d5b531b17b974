-- How good judges of lost medicine are: ours on pairs that people labelled, and those of the papers.
with newest as (
    select distinct on (detector, gold, measure) *
    from {{ ref('figures') }}
    where family = 'judges' and subject = 'ALL'
    order by detector, gold, measure, at desc
)

select
    'here' as measured_by, detector as judge, gold as corpus, '' as setting, measure, value, low, high, n, suppressed,
    notes_of, topics_of, marked_by
from newest
union all
select paper, system, corpus, setting, measure, value, null, null, null, false, null, null, null
from {{ ref('published_judges') }}
where measure in ('accuracy', 'precision', 'recall')
order by 1, 2, 3, 4, 5
