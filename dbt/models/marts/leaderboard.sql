-- Which detector is best for which notes, and what it costs: one row a detector, gold, locale and inputs.
with newest as (
    select distinct on (detector_digest, gold, locale, inputs, family, measure) *
    from {{ ref('figures') }}
    where subject = 'ALL' and family in ('words', 'tokens', 'retention')
    order by detector_digest, gold, locale, inputs, family, measure, at desc
),

-- On the labels that a peer claims to find, which are fewer than the gold has.
claimed as (
    select
        detector_digest, gold, locale, inputs,
        max(value) filter (where measure = 'recall') as recall_claimed,
        max(value) filter (where measure = 'precision') as precision_claimed,
        max(n) filter (where measure = 'recall') as words_claimed,
        cast(max(value) filter (where measure = 'labels_claimed') as integer) as labels_claimed
    from (
        select distinct on (detector_digest, gold, locale, inputs, measure) *
        from {{ ref('figures') }}
        where family = 'words' and subject = 'claimed by ' || split_part(detector, '@', 1)
        order by detector_digest, gold, locale, inputs, measure, at desc
    ) as newest_claimed
    group by detector_digest, gold, locale, inputs
),

-- Speed on the same notes, where it was measured there.
speed as (
    select distinct on (detector_digest, gold, locale, inputs)
        detector_digest, gold, locale, inputs, value as words_per_second
    from {{ ref('figures') }}
    where family = 'cost' and subject = 'ALL' and measure = 'words_per_second'
    order by detector_digest, gold, locale, inputs, at desc
),

-- Else, since speed and money hang on the machine more than on the gold that was read, the newest of any.
price as (
    select
        detector_digest,
        max(value) filter (where measure = 'words_per_second') as words_per_second,
        max(value) filter (where measure = 'cost_per_10000_notes') as cost_per_10000_notes
    from (
        select distinct on (detector_digest, measure) detector_digest, measure, value
        from {{ ref('figures') }}
        where family = 'cost' and subject = 'ALL'
        order by detector_digest, measure, at desc
    ) as newest_price
    group by detector_digest
),

wide as (
    select
        max(detector) as detector, detector_digest, gold, locale, inputs,
        {% for measure in ['recall', 'precision', 'f1', 'entity_recall', 'leak_rate', 'clinical_retention'] %}
        max(value) filter (where family = 'words' and measure = '{{ measure }}') as {{ measure }},
        {% endfor %}
        max(low) filter (where family = 'words' and measure = 'recall') as recall_low,
        max(high) filter (where family = 'words' and measure = 'recall') as recall_high,
        max(value) filter (where family = 'tokens' and measure = 'recall_conservative') as recall_conservative,
        {% for measure in ['notes_failed', 'recall_answered', 'precision_answered'] %}
        max(value) filter (where family = 'words' and measure = '{{ measure }}') as {{ measure }},
        {% endfor %}
        max(n) filter (where family = 'words' and measure = 'recall_answered') as words_answered,
        max(value) filter (where family = 'retention' and measure = 'lexical_retention') as lexical_retention,
        max(n) filter (where family = 'words' and measure = 'recall') as words,
        bool_or(suppressed) as suppressed,
        cast(max(at) at time zone 'UTC' as date) as measured_on,
        {{ newest_source() }}
    from newest
    group by detector_digest, gold, locale, inputs
),

active as (
    select distinct detector_digest
    from {{ source('quality', 'score_history') }}
    where active
)

select
    wide.gold, wide.locale, wide.inputs,
    -- By what is shown, so that the order of two tells nothing that their figures do not.
    case when wide.recall is not null then
        rank() over (partition by wide.gold, wide.locale, wide.inputs order by wide.recall desc nulls last)
    end as place,
    wide.detector, wide.detector_digest,
    wide.recall, wide.recall_low, wide.recall_high, wide.words, wide.recall_conservative, wide.entity_recall,
    wide.precision, wide.f1, wide.leak_rate, wide.clinical_retention, wide.lexical_retention,
    claimed.recall_claimed, claimed.precision_claimed, claimed.words_claimed, claimed.labels_claimed,
    wide.notes_failed, wide.recall_answered, wide.precision_answered, wide.words_answered,
    coalesce(speed.words_per_second, price.words_per_second) as words_per_second, price.cost_per_10000_notes,
    active.detector_digest is not null as in_use,
    wide.suppressed, wide.measured_on, wide.notes_of, wide.topics_of, wide.marked_by
from wide
left join claimed
    on claimed.detector_digest = wide.detector_digest and claimed.gold = wide.gold and claimed.locale = wide.locale
    and claimed.inputs = wide.inputs
left join speed
    on speed.detector_digest = wide.detector_digest and speed.gold = wide.gold and speed.locale = wide.locale
    and speed.inputs = wide.inputs
left join price on price.detector_digest = wide.detector_digest
left join active on active.detector_digest = wide.detector_digest
order by wide.gold, wide.locale, wide.inputs, place, wide.detector, wide.detector_digest
