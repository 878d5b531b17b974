"""A site's own corpora in the leaderboard: filled with surrogates and as they are written, under words of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from sqlalchemy import text

from assets import leaderboard as assets
from deid_platform.bench.leaderboard.corpora import CorpusKey, corpora_to_fill, scored_keys
from deid_platform.bench.leaderboard.detectors import Detectors
from deid_platform.bench.leaderboard.leaderboard import Measured, carried_out, here, notes_to_score
from deid_platform.bench.leaderboard.plan import parse_plan
from deid_platform.corpora.formats import gold_format
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.gold_words import AS_WRITTEN, word_of_corpus, words_of_own
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.warehouse.migrate import migrate
from deid_platform.warehouse.quality.lab import GOLDS
from deid_platform.warehouse.server.roles import Role
from resources import SiteResource, gpu_resource

TEXT = "Mrs. Brenda Quill, seen by Dr. Harlan on 03/04/2021, has gout. Call 555-0142."
MARKED = (("Brenda Quill", Label.PATIENT), ("Harlan", Label.DOCTOR), ("03/04/2021", Label.DATE))
MIMIC = "Seen by Dr. [**Last Name (STitle) 12**] on [**2151-3-4**] at [**Hospital1 18**], [**Ward Name**]."
COLUMNS = "ROW_ID,SUBJECT_ID,HADM_ID,CHARTDATE,CHARTTIME,STORETIME,CATEGORY,DESCRIPTION,CGID,ISERROR,TEXT\n"
PLAN = """
says: A site's own.
notes: 12
detectors: [rules]
corpora:
  letters: {locales: [it_IT, as-written]}
  mimic: {locales: [hi]}
  i2b2: {locales: [as-written]}
  conll: {locales: [as-written]}
"""


def notes(count: int) -> list[Gold]:
    spans = sorted((TEXT.index(said), TEXT.index(said) + len(said), label) for said, label in MARKED)
    return [Gold(f"n{n}", tuple(Span(*it) for it in spans), note=Note(f"n{n}", TEXT)) for n in range(count)]


@pytest.fixture(scope="module")
def site(installation: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("corpora")
    for name, where in (("brat", "letters"), ("i2b2", "i2b2/test")):
        (folder / where).mkdir(parents=True)
        gold_format(name).write(notes(30), folder / where)
    (folder / "mimic").mkdir()
    lines = "".join(f'{n},p{n},1,,,,Nursing,R,1,,"{MIMIC}"\n' for n in range(40))
    (folder / "mimic" / "NOTEEVENTS.csv").write_text(COLUMNS + lines)
    with installation.open("a") as config:
        config.write(
            f'resamples = 20\n[corpora]\nfolder = "{folder}"\n'
            f'[corpora.sets.letters]\npath = "{folder}/letters"\nformat = "brat"\n'
            f'[corpora.sets.mimic]\npath = "{folder}/mimic"\nformat = "mimic3"\n'
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DEID_CORPORA", raising=False)
        yield Site(load_settings(installation))


def carry_out(site: Site) -> list[Measured]:
    plan = parse_plan(PLAN.encode())
    keys, elsewhere = here(site, plan)
    assert elsewhere == ["conll"]
    with Detectors(site, plan.detectors) as detectors:
        return [it for it in carried_out(site, plan, keys, detectors) if isinstance(it, Measured)]


def test_a_corpus_that_no_bootstrap_has_seen_is_refused_by_its_word(site: Site) -> None:
    with pytest.raises(DeidError) as raised:
        carry_out(site)
    assert (raised.value.code, raised.value.ref) == (Code.WAREHOUSE_NOT_READY, "own-letters")


@pytest.fixture(scope="module")
def measured(site: Site) -> list[Measured]:
    migrate(site.warehouse.admin_engine(), golds=words_of_own(site.settings))
    return carry_out(site)


def test_own_corpora_are_measured_filled_and_as_they_are_written(measured: list[Measured]) -> None:
    assert [(it.key.partition, [one.given for one in it.scored]) for it in measured] == [
        ("letters.it_IT", ["topics", "text"]),
        ("letters.as-written", ["text"]),  # nobody has topics for it
        ("mimic.hi", ["topics", "text"]),
        ("i2b2.as-written", ["text"]),
    ]
    assert {one.notes for it in measured for one in it.scored} == {12}


@pytest.mark.usefixtures("measured")
def test_analysts_see_them_by_words_of_their_own_and_by_whom_they_were_marked(site: Site) -> None:
    statement = "SELECT DISTINCT gold, locale, notes_of, marked_by FROM quality.lab_scores WHERE family = 'words'"
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        rows = {tuple(row) for row in connection.execute(text(statement))}
    assert rows == {
        ("own-letters", "it_IT", "own_corpus", "written_in"),
        ("own-letters-as-written", "", "own_corpus", "annotators"),
        ("mimic", "hi", "published", "written_in"),
        ("i2b2", "", "published", "annotators"),
    }


@pytest.mark.usefixtures("measured")
def test_what_is_measured_as_written_is_the_text_itself(site: Site) -> None:
    given = notes_to_score(site, CorpusKey("letters", AS_WRITTEN), 5)
    assert {note.text for note in given.notes} == {TEXT}
    assert given.topics is None
    filled = notes_to_score(site, CorpusKey("letters", "it_IT"), 5)
    assert all("Quill" not in note.text for note in filled.notes)


@pytest.mark.usefixtures("measured")
def test_words_of_a_corpus_that_left_deid_toml_are_shown_no_more(site: Site) -> None:
    admin = site.warehouse.admin_engine()
    try:
        migrate(admin)
        with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
            found = connection.execute(text("SELECT count(*) FROM quality.lab_scores WHERE gold LIKE 'own-%'")).scalar()
        assert found == 0
    finally:
        migrate(admin, golds=words_of_own(site.settings))


@pytest.mark.usefixtures("measured")
def test_the_asset_has_partitions_of_own_corpora(site: Site, installation: Path) -> None:
    assert {"letters", "mimic", "hospital", "library_en", "mtsamples"} <= set(corpora_to_fill(site.settings))
    as_written = [key.corpus for key in scored_keys(site.settings) if key.as_written]
    assert as_written == ["conll", "i2b2", "letters"]  # placeholders are no gold before they are filled
    key = dg.MultiPartitionKey({"corpus": "letters.as-written", "detector": "rules"})
    done = dg.materialize(
        [assets.detector_scores(site.settings)],
        partition_key=key,
        resources={"site": SiteResource(config=str(installation)), "gpu": gpu_resource()},
        instance=dg.DagsterInstance.ephemeral(),
    )
    (event,) = done.get_asset_materialization_events()
    shown = event.step_materialization_data.materialization.metadata
    said = "notes of a corpus of this site's own, on text alone, marked by people, as deid.toml says"
    assert shown["measured_on"].value.endswith(said)
    assert shown["recall_text"].value > 0.5


@pytest.mark.parametrize("name", ["mimic", "mtsamples", "hospital"])
def test_what_has_no_gold_as_it_is_written_is_refused_in_a_plan(site: Site, name: str) -> None:
    plan = parse_plan(f"says: x\ndetectors: [rules]\ncorpora:\n  {name}: {{locales: [as-written]}}\n".encode())
    with pytest.raises(DeidError) as raised:
        here(site, plan)
    assert raised.value.code is Code.PLAN_INVALID
    assert f"corpora.{name}.locales" in str(raised.value.ref)


def test_an_unknown_corpus_of_a_plan_is_named_with_the_nearest(site: Site) -> None:
    plan = parse_plan(b"says: x\ndetectors: [rules]\ncorpora:\n  leters: {locales: [zh]}\n")
    with pytest.raises(DeidError, match="letters") as raised:
        here(site, plan)
    assert raised.value.code is Code.CORPUS_UNKNOWN


def test_words_of_own_corpora_are_no_words_of_others() -> None:
    assert word_of_corpus("mtsamples", "zh", own=False, scheme="i2b2-2014") == "mtsamples"
    # A site's file of that name is another corpus.
    assert word_of_corpus("mtsamples", "zh", own=True, scheme="i2b2-2014") == "own-mtsamples"
    assert word_of_corpus("conll", AS_WRITTEN, own=True, scheme="conll-2003") == "conll"
    assert word_of_corpus("conll", AS_WRITTEN, own=True, scheme="i2b2-2014") == "own-conll-as-written"
    assert word_of_corpus("i2b2", "en_US", own=False, scheme="i2b2-2014") == "own-i2b2"
    # Of MIMIC-III the papers measure the surrogates that they wrote into it.
    assert word_of_corpus("mimic", "zh", own=True, scheme="mimic-iii") == "mimic"
    assert word_of_corpus("mimic", "zh", own=True, scheme="i2b2-2014") == "own-mimic"
    assert word_of_corpus("mimic", AS_WRITTEN, own=True, scheme="mimic-iii") == "own-mimic-as-written"
    assert set(GOLDS).isdisjoint(words_of_own(None))
