{#- Of each count and the figures over it: the count is a multiple of the base and not too small, no figure is shown without
    it, and none has more digits than it bears. `unless`: of which rows that is not asked, being no shares. -#}
{% test hides_small_counts(model, counts, unless='false') %}
select *
from {{ model }}
where false
{% for count, figures in counts.items() %}
   or {{ count }} < {{ var('fewest_cases') }}
   or mod({{ count }}, {{ var('count_base') }}) <> 0
{% for figure in figures %}
   or ({{ count }} is null and {{ figure }} is not null and not ({{ unless }}))
   or cast({{ figure }} as numeric) <> round(cast({{ figure }} as numeric), {{ digits(count) }})
{% endfor %}
{% endfor %}
{% endtest %}
