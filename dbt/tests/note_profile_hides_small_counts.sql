-- Every count that is shown is a multiple of the base, none is zero, and none of patients is hidden without saying so.
select *
from {{ ref('note_profile') }}
where notes is null
   or notes <= 0
   or patients <= 0
   or mod(notes, {{ var('count_base') }}) <> 0
   or mod(patients, {{ var('count_base') }}) <> 0
   or (patients is null and not suppressed)
