-- How much better names of women are found than those of men, by locale: Zambare 2026, table 9.
with newest as (
    select distinct on (detector_digest, gold, locale, inputs, subject) *
    from {{ ref('figures') }}
    where family = 'names' and measure = 'recall' and subject in ('names sex F', 'names sex M')
    order by detector_digest, gold, locale, inputs, subject, at desc
)

select
    women.detector, women.detector_digest, women.gold, women.locale, women.inputs,
    women.value as recall_women, women.low as recall_women_low, women.high as recall_women_high, women.n as words_women,
    men.value as recall_men, men.low as recall_men_low, men.high as recall_men_high, men.n as words_men,
    round(cast(women.value - men.value as numeric), 4)::double precision as women_less_men,
    cast(greatest(women.at, men.at) at time zone 'UTC' as date) as measured_on,
    women.notes_of, women.topics_of, women.marked_by
from newest as women
join newest as men
    on men.detector_digest = women.detector_digest and men.gold = women.gold and men.locale = women.locale
    and men.inputs = women.inputs and men.subject = 'names sex M'
where women.subject = 'names sex F'
order by gold, locale, inputs, detector, detector_digest
