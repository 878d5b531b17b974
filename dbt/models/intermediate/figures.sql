-- The newest figure of each measure, of the bench and of the laboratory, as marts show figures.
with found as (
    select
        detector, detector_digest, policy_digest, gold, locale, inputs, family, subject, measure,
        value, low, high, n, suppressed, at, notes_of, topics_of, marked_by
    from {{ source('quality', 'lab_scores') }}
    union all
    select
        -- The bench says which detector it measured by digest alone: that of a release.
        coalesce(named.detector, 'released'), scores.detector_digest, '', scores.gold, '', scores.inputs, 'words',
        scores.label, scores.measure, scores.value, scores.low, scores.high, scores.n, scores.suppressed, scores.at,
        scores.notes_of, scores.topics_of, scores.marked_by
    from {{ source('quality', 'scores') }} as scores
    left join (
        select detector_digest, max(detector) as detector
        from {{ source('quality', 'lab_scores') }}
        group by 1
    ) as named on named.detector_digest = scores.detector_digest
),

newest as (
    select distinct on (detector_digest, policy_digest, gold, locale, inputs, family, subject, measure) *
    from found
    order by detector_digest, policy_digest, gold, locale, inputs, family, subject, measure, at desc
)

select
    detector, detector_digest, policy_digest, gold, locale, inputs, family, subject, measure,
    {{ shown_figure('newest') }},
    at, notes_of, topics_of, marked_by
from newest
where {{ may_show('newest') }}
