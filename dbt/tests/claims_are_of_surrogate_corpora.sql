-- No mart shows a figure on the labels that a peer claims over gold that is no surrogate corpus (macros/figures.sql).
select gold, inputs, detector
from {{ ref('leaderboard') }}
where locale = '' and coalesce(recall_claimed, precision_claimed, words_claimed, labels_claimed) is not null
union all
select gold, inputs, detector
from {{ ref('scores_by_group') }}
where locale = '' and grouped_by = 'claimed by'
union all
select gold, inputs, release
from {{ ref('score_history') }}
where locale = '' and subject like 'claimed by %'
