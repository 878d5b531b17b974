-- No count that is shown is small, and none is hidden without saying so.
select *
from {{ ref('note_profile') }}
where notes < {{ var('smallest_shown_count') }}
   or patients < {{ var('smallest_shown_count') }}
   or (notes is null or patients is null) <> suppressed
   or (notes is null and mean_words is not null)
