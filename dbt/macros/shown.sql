{#- A count, rounded down to a multiple of the base, if it is large enough to show; else null. -#}
{% macro shown(count) -%}
    case
        when {{ count }} >= {{ var('smallest_shown_count') }}
        then {{ count }} - mod({{ count }}, {{ var('count_base') }})
    end
{%- endmacro %}
