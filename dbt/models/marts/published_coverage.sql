-- How many figures of each table have one of ours beside them, and why the others have none.
select
    paper, table_name, count(*) as figures,
    count(*) filter (where reason is null) as filled,
    count(*) filter (where reason = 'too few cases') as too_few_cases,
    count(*) filter (where reason = 'not measured') as not_measured,
    count(*) filter (where reason = 'cannot be had: weights') as need_weights,
    count(*) filter (where reason = 'cannot be had: notes') as need_notes,
    count(*) filter (where reason = 'cannot be had: labels') as need_labels,
    count(*) filter (where reason = 'no counterpart') as no_counterpart
from {{ ref('published_beside_ours') }}
group by paper, table_name
order by paper, table_name
