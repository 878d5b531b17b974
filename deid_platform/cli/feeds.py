"""Commands on feeds: feed check.

Belongs here: arguments and what a person reads. Does not belong here: what is looked at (`refresh/intake/check.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deid_platform.cli.terminal import Config, Json, counted, progress, say, show
from deid_platform.errors import Code, DeidError

if TYPE_CHECKING:
    from deid_platform.notes import Delivery
    from deid_platform.refresh.installation.site import Site
    from deid_platform.refresh.intake.check import Checked
    from deid_platform.settings import FeedSettings

_EXPORT = "save it as .xlsx, its name beginning with a role, or export each sheet as CSV (UTF-8), with ids as text"
_NUMBERS = (
    "a workbook keeps ids that are numbers without leading zeros: format the column as text and enter them again, or, "
    "if the source's ids have none, set workbook_numbers = true in [feeds.{}]"
)
_HIDDEN = "what a workbook hides is not read: show the sheet, row or column, or delete it"
_NAMELESS = (
    "patients would have no last name, so that their names are not looked for in their notes: map the column that "
    "holds last names to `patients.last_name` (a column of whole names has to be split before)"
)
_NAMELESS_SOURCE = (
    "patients would have no last name, so that their names are not looked for in their notes: the source gives none; "
    "deliver them beside its files, in a patients.csv with the columns patient_id and last_name"
)
feed = typer.Typer(help="Feeds: check a delivery before it is taken in.", no_args_is_help=True)


@feed.command("check")
def check(
    folder: Annotated[
        Path | None, typer.Argument(help="A delivery's folder, of any name; none if --feed is a database.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--feed", help="The feed that it belongs to; by default the feed whose folder it is in."),
    ] = None,
    delivery: Annotated[
        str | None,
        typer.Option(help="Instead of a folder, the watermark of a delivery of --feed; by default its newest."),
    ] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Read a delivery without taking it in, and say what would be refused: file, reason and the first 20 lines.

    A line is that of the text file on which the row begins, the header counted; in Parquet and in a database it is the
    row's place. Rows that are kept count all the same: a topic's without its date, or as a former one. Nothing is
    written. Exit status 3 says that something would be refused, 1 that nothing would be left.
    """
    from deid_platform.refresh.intake.check import check_delivery, check_folder, refuse_other_folder

    site = _site(config, needed=name is not None or folder is None)
    if folder is not None:
        if delivery is not None:
            raise typer.BadParameter("cannot be combined with a folder", param_hint="--delivery")
        name = name or (_feed_of(site, folder) if site else None)
        _must_have_folders(site, name)
        refuse_other_folder(site, folder)
        say(f"read as a delivery of {name}" if name else "read without a feed's columns: name one with --feed")
        with progress("reading") as bar:
            found = check_folder(site, name, folder, progress=bar.advance)
    else:
        if site is None or name is None:
            raise typer.BadParameter("a folder, or --feed", param_hint="FOLDER")
        chosen = _delivery(site, name, delivery)
        say(f"read as {chosen.key}")
        with progress("reading") as bar:
            found = check_delivery(site, chosen, progress=bar.advance)
    columns = ("file", "reason", "rows", "kept", "lines")
    show(columns, ((k.file, k.reason.value, k.rows, k.stands, k.lines) for k in found.refusals), as_json=as_json)
    _explain(found, name, site.settings.feeds.get(name or "") if site else None)
    if folder is not None:
        _explain_name(name, folder)
    if site is not None and name is not None:
        _explain_refusal(site, name)
    if found.empty:
        raise typer.Exit(1)
    if found.refusals.lost:
        raise typer.Exit(3)


def _must_have_folders(site: Site | None, name: str | None) -> None:
    if site is not None and name is not None and site.feed(name).from_database:
        raise typer.BadParameter(f"{name} is a database: leave the folder out", param_hint="FOLDER")


def _delivery(site: Site, name: str, watermark: str | None) -> Delivery:
    """A delivery of a feed that has arrived, by its watermark or the newest.

    Raises:
        DeidError: `delivery-unknown` with the nearest name, or `feed-empty` if there is none at all.
    """
    from deid_platform.notes import Delivery

    if watermark is not None:
        return site.wanted(name, Delivery(name, watermark).key)[0]
    arrived = site.deliveries(name)
    if not arrived:
        for error in site.reader(name).refused():
            say(f"not in any delivery [{error.ref}]: {error.code.remedy}")
        raise DeidError(Code.FEED_EMPTY, f"{name}: no delivery")
    return arrived[-1]


def _explain(found: Checked, name: str | None, feed: FeedSettings | None) -> None:
    from deid_platform.corpora import Reason, Role
    from deid_platform.corpora.formats import format_for_people

    read = ", ".join(f"{kind} {rows:,}" for kind, rows in found.rows.items())
    say(f"would be taken in: {read or 'nothing; the whole delivery would be refused'}")
    for shares in found.shares:
        say(shares)
    for role, unknown in found.refusals.unknown.items():
        say(f"unknown columns of {role.value}: {unknown}")
    if advice := found.refusals.advice(feed.columns if feed else {}):
        say(f"to map them, if these are their fields, in [feeds.{name or 'NAME'}] of deid.toml:\n  {advice}")
    if undecided := found.refusals.undecided():
        say(
            f"to decide on, since nothing says what they are: {', '.join(undecided)}\n"
            "map each to a field; ignore it only if it holds no id, name, number, address or date of a person"
        )
    called, place = format_for_people(feed.format if feed else "files")
    if place != "line" and any(True for _ in found.refusals):
        say(f"lines are numbers, from 1: {place}")
    if found.nameless:
        # Nobody maps a column of what has none.
        say(_NAMELESS_SOURCE if called and feed and not feed.columns else _NAMELESS)
    if found.other_types:
        others = counted(found.other_types, "note")
        say(f"of a type that note_types does not list, shown as `other`: {others}")
    for table, columns in found.kept_back.items():
        say(f"columns of structured-{table} that nobody mapped, and that are not released: {', '.join(columns)}")
    if found.passed_over:
        named = f"a name must begin with one of {', '.join(Role)}"
        if called and feed:
            named = f"files of the format {feed.format} {called}, and of tables beside them {named}"
        say(f"skipped: {counted(found.passed_over, 'file')}; {named}")
    if found.spreadsheets:
        say(f"{counted(found.spreadsheets, 'workbook')} among them: {_EXPORT}")
    reasons = {kind.reason for kind in found.refusals}
    if Reason.SPREADSHEET in reasons:
        say(f"a workbook of this kind is not read: {_EXPORT}")
    if Reason.NUMBER_CELL in reasons:
        say(_NUMBERS.format(name or "NAME"))
    if Reason.HIDDEN_CONTENT in reasons:
        say(_HIDDEN)
    for file, encoding in found.encodings.items():
        say(_encoding(file, encoding, name, feed.encoding if feed else "utf-8"))
    if found.waiting:
        say(f"not yet in a delivery, since their period is not over: {counted(found.waiting, 'row')}")
    for error in found.undated:
        say(f"not in any delivery [{error.ref}]: {error.code.remedy}")
    if found.advice:
        say(found.advice)


def _encoding(file: str, encoding: str | None, name: str | None, of_feed: str) -> str:
    where = f"in [feeds.{name or 'NAME'}] of deid.toml, if its letters are right then, or deliver it in UTF-8"
    if encoding is None or encoding == of_feed:
        return f"{file} has bytes that are not {of_feed}: set `encoding` {where}"
    if encoding == "utf-8":
        return f'{file} is in UTF-8 and not {of_feed}: set encoding = "utf-8", or deliver all tables in one encoding'
    return f'{file} has bytes that are not {of_feed}, and may be {encoding}: set encoding = "{encoding}" {where}'


def _explain_refusal(site: Site, name: str) -> None:
    try:
        site.accept(name)
    except DeidError as error:
        say(f"a refresh takes in none of it: {error}")


def _explain_name(name: str | None, folder: Path) -> None:
    from deid_platform.corpora.folders import is_unfinished
    from deid_platform.notes import Delivery

    try:
        Delivery(name or "feed", folder.resolve().name)
    except DeidError as error:
        unfinished = is_unfinished(folder.resolve().name)
        say("its name says that it is still being written" if unfinished else error.code.remedy)


def _site(config: Path | None, *, needed: bool) -> Site | None:
    """The installation; None where there is none and none is needed."""
    from deid_platform.cli.terminal import site_of

    try:
        return site_of(config)
    except DeidError as error:
        if error.code is Code.SETTINGS_MISSING and config is None and not needed:
            return None
        raise


def _feed_of(site: Site, folder: Path) -> str | None:
    """The feed whose folder a delivery lies in."""
    feeds = [(name, it) for name, it in site.settings.feeds.items() if not it.from_database]
    above = {folder.absolute().parent.resolve(), folder.resolve().parent}  # it may be a link there, or lead there
    return next((name for name, it in feeds if site.settings.path(it.path).resolve() in above), None)
