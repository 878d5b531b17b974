-- The first place is the best recall that is shown, and who has none has no place.
select board.*
from {{ ref('leaderboard') }} as board
join {{ ref('leaderboard') }} as other
    on other.gold = board.gold and other.locale = board.locale and other.inputs = board.inputs
where (board.place < other.place and board.recall <= other.recall)
    or (board.place is null) <> (board.recall is null)
