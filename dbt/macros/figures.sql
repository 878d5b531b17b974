{#- How figures of the bench and of the laboratory are shown. All marts show them so, that no two of them differ by what
    one of them hides:

    - over fewer cases than `fewest_cases`, nothing of a figure;
    - the number of cases, rounded down to a multiple of the base;
    - the figure with as many digits as that number has zeros after its first: over 120 cases 0.97, over 1,430 cases 0.974.
      Every number of cases that is rounded to the one shown, then, has some count that yields the figure: it does not
      tell which of the ten it is, however many figures there are over the same cases;
    - the interval wider, never narrower.

    The smallest number that is shown is 20, not 11: a shown 10 would mean 11 to 19, nine numbers, and the sum of many such
    would say more than their rounding hides. -#}
{% macro digits(cases) -%}
    least(length(cast({{ cases }} as text)) - 1, 4)
{%- endmacro %}

{#- The columns of a figure, of `value`, `low`, `high`, `n` and `suppressed` of a relation that has hidden what is under 11.
    A figure of no share (words a second, money) has no number of cases. -#}
{% macro shown_figure(of) %}
    {%- set cases = of ~ '.n - mod(' ~ of ~ '.n, ' ~ var('count_base') ~ ')' -%}
    {%- set hidden = '(' ~ of ~ '.suppressed or coalesce(' ~ of ~ '.n < ' ~ var('fewest_cases') ~ ', false))' -%}
    {%- set places = 'case when ' ~ of ~ '.n is null then 4 else ' ~ digits('(' ~ cases ~ ')') ~ ' end' -%}
    case when not {{ hidden }} then cast(round(cast({{ of }}.value as numeric), {{ places }}) as double precision) end as value,
    case when not {{ hidden }} then {{ outwards(of ~ '.low', places, 'floor') }} end as low,
    case when not {{ hidden }} then {{ outwards(of ~ '.high', places, 'ceil') }} end as high,
    case when not {{ hidden }} then {{ cases }} end as n,
    {{ hidden }} as suppressed
{%- endmacro %}

{#- Where the newest of the figures of a row are from: on whose notes, with whose topics, and by which hand these were
    marked. -#}
{% macro newest_source() -%}
    {%- for name in ['notes_of', 'topics_of', 'marked_by'] %}
    (array_agg({{ name }} order by at desc, family, measure))[1] as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{#- Whether a figure may be shown at all: on the labels that a peer claims, only of surrogate corpora, which have a locale and
    identifiers that a program wrote. Such labels are neither all nor a part beside others: less the labels and sexes that
    are shown too, their number would tell that of a label or a sex with fewer than 11, in one of a hundred golds. -#}
{% macro may_show(of) -%}
    not ({{ of }}.locale = '' and {{ of }}.subject like 'claimed by %')
{%- endmacro %}

{% macro outwards(bound, places, direction) -%}
    cast({{ direction }}(cast({{ bound }} as numeric) * power(10::numeric, {{ places }})) / power(10::numeric, {{ places }}) as double precision)
{%- endmacro %}
