{#- A mart as a table that is filled anew in one transaction: readers see its former content whole, then the new one, and
    neither waits for the other. dbt's own `table` renames and drops the former table, which waits for every transaction
    that ever read it.
    Only a mart whose columns changed is dropped. That does wait for its readers, and gives up after `lock_timeout`. -#}
{% materialization refilled, adapter='postgres' %}
    {%- set existing = load_cached_relation(this) -%}
    {%- set mart = this.incorporate(type='table') -%}
    {%- set fresh = make_temp_relation(mart) -%}

    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}

    {#- First what takes long, while no lock is held. -#}
    {% do run_query(get_create_table_as_sql(True, fresh, sql)) %}
    {%- set refill = existing is not none and existing.is_table
        and same_columns(adapter.get_columns_in_relation(existing), adapter.get_columns_in_relation(fresh)) -%}

    {% call statement('main') %}
        set local lock_timeout = '{{ var("lock_timeout") }}';
        {% if refill %}
            {#- Against another build at the same time, whose rows this DELETE would not see. Readers do not conflict. -#}
            {{ lock_or_give_up(mart, 'share row exclusive') }}
            delete from {{ mart }};
            insert into {{ mart }} select * from {{ fresh }};
        {% else %}
            {% if existing is not none %}
                {% if existing.is_table %}{{ lock_or_give_up(existing, 'access exclusive') }}{% endif %}
                drop {{ existing.type }} {{ existing }} cascade;
            {% endif %}
            create table {{ mart }} as select * from {{ fresh }};
        {% endif %}
    {% endcall %}

    {% if not refill %}{% do create_indexes(mart) %}{% endif %}
    {% do apply_grants(mart, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=not refill)) %}
    {% do persist_docs(mart, model) %}

    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {% do adapter.commit() %}
    {{ run_hooks(post_hooks, inside_transaction=False) }}

    {{ return({'relations': [mart]}) }}
{% endmaterialization %}


{#- Whether columns have the same names and types in the same order. -#}
{% macro same_columns(former, fresh) -%}
    {%- set described = namespace(former=[], fresh=[]) -%}
    {%- for column in former -%}{%- do described.former.append([column.name, column.data_type]) -%}{%- endfor -%}
    {%- for column in fresh -%}{%- do described.fresh.append([column.name, column.data_type]) -%}{%- endfor -%}
    {{ return(described.former == described.fresh) }}
{%- endmacro %}


{#- Locks a table, or fails with the code by which the platform tells this from a broken model, in any language. -#}
{% macro lock_or_give_up(relation, mode) -%}
    do $$
    begin
        lock table {{ relation }} in {{ mode }} mode;
    exception when lock_not_available then
        raise exception 'warehouse-busy' using errcode = 'lock_not_available';
    end $$;
{%- endmacro %}
