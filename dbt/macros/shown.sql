{#- A count if it is large enough to show, else null. -#}
{% macro shown(count) -%}
    case when {{ count }} >= {{ var('smallest_shown_count') }} then {{ count }} end
{%- endmacro %}
