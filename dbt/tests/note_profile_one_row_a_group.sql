-- One row for each note type and year.
select note_type, note_year
from {{ ref('note_profile') }}
group by note_type, note_year
having count(*) > 1
