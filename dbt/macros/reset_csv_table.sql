{#- A seed is filled anew as a mart is (`refilled`): its readers neither wait nor are waited for, unless its columns changed.
    dbt's own TRUNCATE waits for every transaction that ever read it. -#}
{% macro postgres__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
    {%- set former = adapter.get_columns_in_relation(old_relation) | map(attribute='name') | list -%}
    {%- set anew = full_refresh or former != agate_table.column_names | list -%}
    {%- set sql = ('drop table ' ~ old_relation ~ ' cascade') if anew else ('delete from ' ~ old_relation) -%}
    {% call statement('reset') %}
        set local lock_timeout = '{{ var("lock_timeout") }}';
        {{ lock_or_give_up(old_relation, 'access exclusive' if anew else 'share row exclusive') }}
        {{ sql }};
    {% endcall %}
    {% if anew %}{{ return(create_csv_table(model, agate_table)) }}{% endif %}
    {{ return(sql) }}
{% endmacro %}
