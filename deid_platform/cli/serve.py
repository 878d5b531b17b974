"""`deid serve`: the platform as an HTTP service.

Belongs here: arguments, and what a person reads at the start. Does not belong here: the service (`service/`).
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer

from deid_platform.cli.inputs import (
    Columns,
    DetectorName,
    Facilities,
    Feed,
    Keep,
    Models,
    Patients,
    Providers,
    Recognizers,
    SecretFile,
    SiteName,
    column_mapping,
    must_exist,
    topics_of,
)
from deid_platform.cli.terminal import needs, say
from deid_platform.errors import Code, DeidError
from deid_platform.languages.shipped import SHIPPED


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; another than this machine's needs tokens.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8090,
    tokens: Annotated[
        Path | None,
        typer.Option(
            help="Who may ask: a file of lines `client:token`; else DEID_SERVE_TOKENS_FILE or DEID_SERVE_TOKENS."
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="A shipped policy or a path to YAML; may be repeated: the first is the default."),
    ] = None,
    patients: Patients = None,
    providers: Providers = None,
    facilities: Facilities = None,
    columns: Columns = None,
    feed: Feed = None,
    secret_file: SecretFile = None,
    site: SiteName = None,
    detector: DetectorName = "ensemble",
    model: Models = None,
    recognizers: Recognizers = None,
    keep: Keep = None,
    date_order: Annotated[
        str | None, typer.Option(help="dmy or mdy: which of two numbers is the day; by default what deid.toml says.")
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(help=f"Languages of which notes pass too, such as `de,nl`; by default {', '.join(SHIPPED)}."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes; they share the model's memory.")] = 2,
    queue: Annotated[int, typer.Option(min=0, help="Requests that may wait; a further one gets 503.")] = 32,
    streams: Annotated[int, typer.Option(min=0, help="Streams that may be open at once.")] = 8,
    max_bytes: Annotated[int, typer.Option(min=1000, help="The longest body, or line of a stream.")] = 10_000_000,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="How long a request may wait, and then be read, before it gets 503.")
    ] = 60.0,
) -> None:
    """Redact notes by HTTP (docs/serve.md)."""
    needs("serve")
    from deid_platform.service.access import Tokens, check_listening
    from deid_platform.service.app import Limits, Service
    from deid_platform.service.queue import Queue
    from deid_platform.service.server import run
    from deid_platform.service.setting_up import job_of, staff_of

    clients = Tokens.read(tokens)
    check_listening(host, clients)
    must_exist(patients=patients, providers=providers, facilities=facilities, secret_file=secret_file)
    job = job_of(
        policies=policy or ["safe_harbor_plus_providers"],
        topics=topics_of(patients, providers, facilities, column_mapping(columns, feed)) or None,
        secret_file=secret_file,
        site=site,
        detector=detector,
        models=tuple(model) if model else None,
        recognizers=recognizers,
        keep=keep,
        date_order=date_order,
        languages=() if languages is None else languages.split(","),
    )
    limits = Limits(max_bytes, seconds, streams)
    with _listening(host, port) as listening:
        address, taken = listening.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        who = "whoever has a token" if clients else "this machine alone"
        say(f"listening on http://{shown}:{taken} for {who}; forms on /docs; ends with Ctrl-C")
        names = tuple(job.releases)
        staff = staff_of(job, workers)
        service = Service(Queue(staff, names, workers=workers, places=queue, seconds=seconds), names, limits)
        run(service, clients, listening=listening)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError:
        raise DeidError(Code.PORT_UNUSABLE, str(port)) from None
