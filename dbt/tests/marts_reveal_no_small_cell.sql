-- What is left of all cases less the parts that are shown never pins down the part that is hidden: if that can be one of
-- fewer than 11, it can be nine numbers at least. Over labels, locales, sexes and lengths, and over both marts together.
-- What peers claim overlaps and is no split; macros/figures.sql says of which gold it is shown.
with part as (
    select detector_digest, gold, locale, inputs, 'label' as split_by, n, suppressed
    from {{ ref('scores_by_label') }}
    where measure = 'recall' and label <> 'ALL'
    union all
    select detector_digest, gold, locale, inputs, grouped_by, n, suppressed
    from {{ ref('scores_by_group') }}
    where measure = 'recall' and grouped_by <> 'claimed by'
),

split as (
    select
        detector_digest, gold, locale, inputs, split_by,
        count(*) filter (where suppressed) as hidden,
        count(*) filter (where not suppressed) as shown,
        coalesce(sum(n), 0) as n
    from part
    group by 1, 2, 3, 4, 5
),

left_over as (
    select
        split.*,
        greatest(0, whole.n - split.n - ({{ var('count_base') }} - 1) * split.shown) as lowest,
        least({{ var('fewest_cases') }} - 1, whole.n + {{ var('count_base') }} - 1 - split.n) as highest
    from split
    join {{ ref('scores_by_label') }} as whole
        on whole.detector_digest = split.detector_digest and whole.gold = split.gold
        and whole.locale = split.locale and whole.inputs = split.inputs
        and whole.label = 'ALL' and whole.measure = 'recall'
)

select *
from left_over
where hidden = 1
    and lowest < {{ var('smallest_shown_count') }}
    and highest between lowest and lowest + 7
