-- One figure of ours never stands beside two systems of a paper, nor beside two settings of one that differ in what it was
-- trained on: of Zambare 2026 a setting says how it was trained, and tables and subjects repeat it.
select paper, our_detector, our_inputs, count(distinct system) as systems, count(distinct trained) as trainings
from (
    select
        paper, our_detector, our_inputs,
        -- "8 x 7B" and "8x7B" are one model in two spellings.
        replace(system, ' ', '') as system,
        case
            when paper = 'Zambare 2026' and setting like '%fine-tuned%'
            then replace(replace(setting, 'names alone; ', ''), ' with US identifiers', '')
        end as trained
    from {{ ref('published_beside_ours') }}
    where ours is not null
) as compared
group by paper, our_detector, our_inputs
having count(distinct system) > 1 or count(distinct trained) > 1
