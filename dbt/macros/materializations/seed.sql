{#- A seed that is loaded once and then kept until its file, its columns or what is said of them change: dbt's own loads it in
    each build, which takes longer than all marts, and truncates it, which waits for every transaction that ever read it.
    What it was loaded from is written on the table's row type, where no reader looks, and goes with the table. -#}
{% materialization seed, adapter='postgres' %}
    {%- set existing = load_cached_relation(this) -%}
    {%- set seeded = this.incorporate(type='table') -%}
    {%- set said = [model.checksum.checksum, config.get('column_types'), model.description, model.columns] -%}
    {%- set from = local_md5(tojson(said, sort_keys=True)) -%}

    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}

    {% if existing is not none and existing.is_table and not should_full_refresh() and loaded_from(seeded) == from %}
        {#- dbt asks each seed for what it read. -#}
        {%- do store_result('agate_table', response='KEPT') -%}
        {% call noop_statement('main', 'KEPT', 'KEPT', 0) %}select 1{% endcall %}
    {% else %}
        {%- set agate_table = load_agate_table() -%}
        {%- do store_result('agate_table', response='OK', agate_table=agate_table) -%}
        {% if existing is not none %}
            {% call statement('reset') %}
                set local lock_timeout = '{{ var("lock_timeout") }}';
                {% if existing.is_table %}{{ lock_or_give_up(existing, 'access exclusive') }}{% endif %}
                drop {{ existing.type }} {{ existing }} cascade;
            {% endcall %}
        {% endif %}
        {%- set created = create_csv_table(model, agate_table) -%}
        {%- set rows = load_csv_rows(model, agate_table) -%}
        {% call noop_statement('main', 'INSERT ' ~ agate_table.rows | length, 'INSERT', agate_table.rows | length) %}
            {{ get_csv_sql(created, rows) }}
        {% endcall %}
        {% do apply_grants(seeded, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=True)) %}
        {% do persist_docs(seeded, model) %}
        {% do run_query("comment on type " ~ seeded ~ " is '" ~ from ~ "'") %}
        {{ run_hooks(post_hooks, inside_transaction=True) }}
        {% do adapter.commit() %}
    {% endif %}
    {{ run_hooks(post_hooks, inside_transaction=False) }}

    {{ return({'relations': [seeded]}) }}
{% endmaterialization %}


{#- What a seed was loaded from; none if it does not say. -#}
{% macro loaded_from(relation) -%}
    {%- set found = run_query(
        "select obj_description('" ~ relation.schema ~ "." ~ relation.identifier ~ "'::regtype, 'pg_type')"
    ) -%}
    {{ return(found.rows[0][0]) }}
{%- endmacro %}
