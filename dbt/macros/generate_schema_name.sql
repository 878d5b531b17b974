{#- The schema is exactly the one that a model names: marts, where the modeller may create and analysts may read.
    dbt's own macro would prefix it with the target's. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ custom_schema_name | trim if custom_schema_name else target.schema }}
{%- endmacro %}
