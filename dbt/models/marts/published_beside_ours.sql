-- Each published figure, what of ours is compared with it, and what differs between the two.
-- Ours is of the same system, trained or prompted in the same way and counted in the same way, or there is none and
-- `reason` says why. Where more than one of ours would do, the first that was measured stands here.
with published as (
    select * from {{ ref('published_scores') }}
    union all
    select * from {{ ref('published_retention') }}
    union all
    select * from {{ ref('published_costs') }}
    union all
    select * from {{ ref('published_missed') }}
    union all
    select * from {{ ref('published_judges') }}
    union all
    select * from {{ ref('published_recovered') }}
    union all
    select * from {{ ref('published_corpora') }}
),

paired as (
    select
        published.*, system.detector, system.inputs, corpus.gold, coalesce(corpus.locale, '') as locale, measure.our_family,
        -- What is no chat model fails on no note.
        case when system.detector like 'chat-%' then measure.our_measure else replace(measure.our_measure, '_answered', '') end
            as our_measure,
        replace(measure.our_subject, '%', published.subject) as our_subject,
        system.what_differs as system_differs, corpus.what_differs as corpus_differs,
        measure.what_differs as measure_differs, coalesce(system.needs, measure.needs, corpus.needs) as needs,
        100 * corpus.place + system.place as place
    from published
    join {{ ref('nearest_corpus') }} as corpus on corpus.corpus = published.corpus
    join {{ ref('nearest_system') }} as system
        on system.paper = published.paper and system.system = published.system
        and coalesce(published.setting, '') like system.setting
    join {{ ref('nearest_measure') }} as measure
        on measure.paper = published.paper and measure.table_name = published.table_name
        and measure.measure = published.measure and coalesce(published.setting, '') like measure.setting
    where measure.our_family is not null
),

alone as (
    select
        published.paper, published.table_name, published.corpus, published.system, published.setting, published.subject,
        published.measure, published.value as published, measure.what_differs as measure_differs,
        coalesce('cannot be had: ' || measure.needs, 'no counterpart') as reason
    from published
    join {{ ref('nearest_measure') }} as measure
        on measure.paper = published.paper and measure.table_name = published.table_name
        and measure.measure = published.measure and coalesce(published.setting, '') like measure.setting
    where measure.our_family is null
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
),

compared as (
    select distinct on (
        paired.paper, paired.table_name, paired.corpus, paired.system, paired.setting, paired.subject, paired.measure
    )
        paired.paper, paired.table_name, paired.corpus, paired.system, paired.setting, paired.subject, paired.measure,
        paired.value as published,
        ours.value as ours, ours.low as ours_low, ours.high as ours_high, ours.n as ours_n,
        case
            when ours.value is not null then null
            when ours.at is not null then 'too few cases'
            when paired.needs is not null then 'cannot be had: ' || paired.needs
            else 'not measured'
        end as reason,
        paired.detector as our_detector, coalesce(ours.gold, paired.gold) as our_gold, paired.locale as our_locale,
        paired.inputs as our_inputs, paired.our_family, paired.our_measure, paired.our_subject,
        paired.corpus_differs, paired.system_differs, paired.measure_differs,
        cast(ours.at at time zone 'UTC' as date) as measured_on,
        ours.notes_of as our_notes_of, ours.topics_of as our_topics_of, ours.marked_by as our_marked_by
    from paired
    left join ours
        -- A site's own corpora have names of its own: a pattern of LIKE stands for them.
        on ours.detector = paired.detector and ours.gold like replace(paired.gold, '_', '\_')
        and ours.locale = paired.locale
        and ours.inputs = paired.inputs and ours.family = paired.our_family and ours.subject = paired.our_subject
        and ours.measure = paired.our_measure
    -- Of those that were not measured, the one that lacks nothing but a measurement, if there is one.
    order by 1, 2, 3, 4, 5, 6, 7, ours.value is null, ours.value is null and paired.needs is not null,
        paired.place, ours.gold
),

every as (
    select * from compared
    union all
    select
        paper, table_name, corpus, system, setting, subject, measure, published,
        cast(null as double precision), cast(null as double precision), cast(null as double precision),
        cast(null as integer), reason, null, null, null, null, null, null, null, null, null, measure_differs,
        cast(null as date), null, null, null
    from alone
)

select
    every.paper, every.table_name, every.corpus, every.system, every.setting, every.subject,
    every.measure, every.published, misprint.computed as published_corrected,
    every.ours, every.ours_low, every.ours_high, every.ours_n, every.reason,
    every.our_detector, every.our_gold, every.our_locale, every.our_inputs, every.our_family,
    every.our_measure, every.our_subject,
    every.corpus_differs, every.system_differs, every.measure_differs, every.measured_on,
    every.our_notes_of, every.our_topics_of, every.our_marked_by
from every
left join {{ ref('published_misprints') }} as misprint
    on misprint.paper = every.paper and misprint.table_name = every.table_name
    and misprint.corpus = every.corpus and misprint.system = every.system
    and misprint.setting is not distinct from every.setting
    and misprint.subject = every.subject and misprint.measure = every.measure and misprint.kind = 'misprint'
order by 1, 2, 3, 4, 5, 6, 7
