"""Commands on the warehouse's server: db bootstrap, status, psql, stop.

Belongs here: arguments and what a person reads. Does not belong here: anything about notes or releases.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from deid_platform.cli.terminal import Config, console, out, progress, site_of

db = typer.Typer(help="The warehouse: roles, migrations, a psql session.", no_args_is_help=True)


@db.command("bootstrap")
def db_bootstrap(config: Config = None) -> None:
    """Make the key secret, the server, its roles and its schemas, or bring them up to date. Safe to repeat."""
    from deid_platform.settings import ensure_secret
    from deid_platform.warehouse.migrate import prepare

    site = site_of(config)
    ensure_secret(site.settings)
    with progress("preparing the warehouse"):
        prepare(site.warehouse, profile=site.settings.profile)
    console.print(f"warehouse ready: {site.warehouse.describe()}, gate profile {site.settings.profile}")


@db.command("status")
def db_status(config: Config = None) -> None:
    """Say where the warehouse is and which gate profile and release are in force."""
    from deid_platform.warehouse.queries import summary as state
    from deid_platform.warehouse.roles import Role

    warehouse = site_of(config).warehouse
    found = state(warehouse.engine(Role.OFFICER))
    out.print(f"{warehouse.describe()}, gate profile {found.profile}, release {found.release or 'none active'}")


@db.command("psql", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def db_psql(
    context: typer.Context,
    role: Annotated[str, typer.Option(help="Log in as this role.")] = "analyst",
    config: Config = None,
) -> None:
    """Open psql on the warehouse, as the analyst by default; further arguments go to psql."""
    from deid_platform.warehouse.roles import Role

    (program, *arguments), environment = site_of(config).warehouse.psql(Role(role))
    os.execvpe(program, [program, *arguments, *context.args], {**os.environ, **environment})  # noqa: S606 - no shell


@db.command("stop")
def db_stop(config: Config = None) -> None:
    """Stop the embedded server unless someone is connected; it starts again by itself when it is needed."""
    from deid_platform.settings import load_settings
    from deid_platform.warehouse.server import EmbeddedServer

    stopped = EmbeddedServer(load_settings(config).home_path).stop()
    console.print("stopped" if stopped else "still in use, not stopped")
