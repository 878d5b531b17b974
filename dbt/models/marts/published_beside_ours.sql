-- Each published figure that has a counterpart here, ours beside it, and what differs between the two.
with published as (
    select * from {{ ref('published_scores') }}
    union all
    select * from {{ ref('published_retention') }}
    union all
    select * from {{ ref('published_costs') }}
    union all
    select * from {{ ref('published_missed') }}
),

paired as (
    select
        published.*, system.detector, system.inputs, corpus.gold, coalesce(corpus.locale, '') as locale, measure.our_family,
        measure.our_measure, system.what_differs as system_differs, corpus.what_differs as corpus_differs,
        measure.what_differs as measure_differs
    from published
    join {{ ref('nearest_corpus') }} as corpus on corpus.corpus = published.corpus
    join {{ ref('nearest_system') }} as system
        on system.paper = published.paper and system.system = published.system
    join {{ ref('nearest_measure') }} as measure
        on measure.paper = published.paper and measure.table_name = published.table_name
        and measure.measure = published.measure
),

-- Of one detector under many digests, the newest. What a release is made with is the ensemble, unless it has a name.
ours as (
    select distinct on (detector, gold, locale, inputs, family, subject, measure) *
    from (
        select
            case detector when 'released' then 'ensemble' else detector end as detector,
            gold, locale, inputs, family, subject, measure, value, low, high, n, at, notes_of, topics_of, marked_by
        from {{ ref('figures') }}
    ) as figures
    order by detector, gold, locale, inputs, family, subject, measure, at desc
)

select
    paired.paper, paired.table_name, paired.corpus, paired.system, paired.setting, paired.subject, paired.measure,
    paired.value as published, misprint.computed as published_corrected,
    ours.value as ours, ours.low as ours_low, ours.high as ours_high, ours.n as ours_n,
    paired.detector as our_detector, paired.gold as our_gold, paired.locale as our_locale,
    paired.inputs as our_inputs, paired.our_family, paired.our_measure,
    paired.corpus_differs, paired.system_differs, paired.measure_differs,
    cast(ours.at at time zone 'UTC' as date) as measured_on,
    ours.notes_of as our_notes_of, ours.topics_of as our_topics_of, ours.marked_by as our_marked_by
from paired
left join ours
    on ours.detector = paired.detector and ours.gold = paired.gold and ours.locale = paired.locale
    and ours.inputs = paired.inputs and ours.family = paired.our_family and ours.subject = paired.subject
    and ours.measure = paired.our_measure
left join {{ ref('published_misprints') }} as misprint
    on misprint.paper = paired.paper and misprint.table_name = paired.table_name
    and misprint.corpus = paired.corpus and misprint.system = paired.system
    and misprint.setting is not distinct from paired.setting
    and misprint.subject = paired.subject and misprint.measure = paired.measure and misprint.kind = 'misprint'
order by 1, 2, 3, 4, 5, 6, 7
