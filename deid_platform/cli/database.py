"""Commands on the warehouse's server: db bootstrap, status, psql, url, dictionary, login, stop.

Belongs here: arguments and what a person reads. Does not belong here: anything about notes or releases.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from deid_platform.cli.terminal import Config, Json, counted, progress, say, show_json, site_of
from deid_platform.runtime.environment import harmless_environment
from deid_platform.warehouse.server.roles import READER_CONNECTIONS, Role

db = typer.Typer(help="The warehouse: roles, migrations, a psql session.", no_args_is_help=True)


@db.command("bootstrap")
def db_bootstrap(config: Config = None) -> None:
    """Make the key secret, the server, its roles and its schemas, or bring them up to date. Safe to repeat."""
    from deid_platform.corpora.gold_words import words_of_own
    from deid_platform.refresh.redact.structured_rows import views_of
    from deid_platform.settings import ensure_secret
    from deid_platform.warehouse.migrate import prepare

    site = site_of(config)
    ensure_secret(site.settings)
    demanded = site.settings.thresholds.signed_dossier
    with progress("preparing the warehouse"):
        golds = words_of_own(site.settings)
        prepare(
            site.warehouse,
            profile=site.settings.profile,
            signed_dossier=demanded,
            golds=golds,
            structured=views_of(site.settings),
        )
    say(f"warehouse ready: {site.warehouse.describe()}, gate profile {site.settings.profile}")
    if old := site.warehouse.outdated():
        say(f"the server was started by an earlier version ({', '.join(old)}): run `deid db stop` once")


@db.command("status")
def db_status(as_json: Json = False, config: Config = None) -> None:
    """Show where the warehouse is, its gate profile and its active release."""
    from deid_platform.warehouse.gate.queries import summary as state

    warehouse = site_of(config).warehouse
    found = state(warehouse.engine(Role.OFFICER))
    if as_json:
        show_json({"warehouse": warehouse.describe(), "profile": found.profile, "release": found.release})
    else:
        typer.echo(f"{warehouse.describe()}, gate profile {found.profile}, release {found.release or 'none active'}")


@db.command("psql", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def db_psql(
    context: typer.Context,
    role: Annotated[str, typer.Option(help="Log in as this role, or as a person.")] = Role.DEMO_ANALYST.value,
    config: Config = None,
) -> None:
    """Open psql on the warehouse, by default as the demonstration's analyst; further arguments go to psql."""
    (program, *arguments), environment = site_of(config).warehouse.psql(role)
    os.execvpe(program, [program, *arguments, *context.args], {**harmless_environment(), **environment})  # noqa: S606 - no shell


@db.command("url")
def db_url(
    role: Annotated[str, typer.Option(help="Log in as this role, or as a person.")] = Role.DEMO_ANALYST.value,
    config: Config = None,
) -> None:
    """Print the URL by which SQLAlchemy connects, without a password, by default as the demonstration's analyst."""
    typer.echo(site_of(config).warehouse.url(role)._replace(password=None).render_as_string())


@db.command("dictionary")
def db_dictionary(
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs: one Table Schema per relation.")] = False,
    config: Config = None,
) -> None:
    """Print the data dictionary: every relation and column that readers see, with type, meaning and policy."""
    from deid_platform.warehouse.readers.dictionary import dictionary, dictionary_json, dictionary_markdown

    relations = dictionary(site_of(config).warehouse.engine(Role.OFFICER))
    typer.echo(dictionary_json(relations) if as_json else dictionary_markdown(relations), nl=False)


@db.command("login")
def db_login(
    login: Annotated[str, typer.Argument(help="Lower-case letters, digits, `_`.")],
    limited: Annotated[bool, typer.Option("--limited", help="For limited data sets instead of research.")] = False,
    connections: Annotated[
        int, typer.Option(min=1, help="How many connections it may have at once.")
    ] = READER_CONNECTIONS,
    config: Config = None,
) -> None:
    """Make a reader's own login, as the warehouse's administrator; its password is `DEID_PASSWORD_<LOGIN>`, if set.

    It reads nothing until `deid project member` lets it.
    """
    from deid_platform.warehouse.server.logins import add_login

    warehouse = site_of(config).warehouse
    has_password = add_login(warehouse, login, limited=limited, connections=connections)
    how = "" if has_password or warehouse.embedded else "; it has no password yet"
    say(f"login {login}, at most {counted(connections, 'connection')}{how}")


@db.command("stop")
def db_stop(config: Config = None) -> None:
    """Stop the embedded server unless someone is connected; it starts again by itself when it is needed."""
    from deid_platform.settings import load_settings
    from deid_platform.warehouse.server.server import EmbeddedServer

    stopped = EmbeddedServer(load_settings(config).home_path).stop()
    say("stopped" if stopped else "still in use, not stopped")
