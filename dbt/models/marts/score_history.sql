-- What each release's detector scored and when, and how that differs from the time before: one row a day.
-- The history is of the bench's scores and of the laboratory's figures. depends_on: {{ source('quality', 'scores') }}
with of_day as (
    select distinct on (release, gold, locale, inputs, family, subject, measure, cast(at at time zone 'UTC' as date))
        history.*, cast(at at time zone 'UTC' as date) as measured_on
    from {{ source('quality', 'score_history') }} as history
    order by
        release, gold, locale, inputs, family, subject, measure, cast(at at time zone 'UTC' as date), at desc
),

shown as (
    select
        release, active, detector_digest, gold, locale, inputs, family, subject, measure,
        {{ shown_figure('of_day') }},
        measured_on, at, notes_of, topics_of, marked_by
    from of_day
    where {{ may_show('of_day') }}
)

select
    shown.release, shown.active, determination.standing, shown.detector_digest, shown.gold, shown.locale, shown.inputs,
    shown.family, shown.subject, shown.measure, shown.value, shown.low, shown.high, shown.n, shown.suppressed,
    shown.measured_on,
    -- Of what is shown of both: a difference of two exact figures would tell more than either.
    round(cast(shown.value - lag(shown.value) over before as numeric), 4)::double precision as change,
    lag(shown.release) over before as former_release,
    lag(shown.measured_on) over before as former_measured_on,
    shown.notes_of, shown.topics_of, shown.marked_by
from shown
left join {{ source('quality', 'determination') }} as determination on determination.release = shown.release
window before as (
    partition by shown.gold, shown.locale, shown.inputs, shown.family, shown.subject, shown.measure
    order by shown.measured_on, shown.at, shown.release
)
order by
    shown.measured_on, shown.release, shown.gold, shown.locale, shown.inputs, shown.family, shown.subject,
    shown.measure
