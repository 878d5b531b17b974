"""Surrogate corpora from carriers to scores, over invented queries in the form of a published corpus."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import dagster as dg
import pytest
from command_line import deid

from assets import corpora as assets
from deid_platform.bench.leaderboard import corpora, corpus_scores
from deid_platform.bench.leaderboard.training import training_parts
from deid_platform.corpora.gold_sets import GoldSet
from deid_platform.corpora.injection.corpus import Part
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.main_job.command import make_corpora
from deid_platform.orchestration.instance import prepare_instance
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.corpus_figures import corpus_figure
from deid_platform.reports.corpus_scores import corpus_scores_markdown
from deid_platform.settings import load_settings
from resources import SiteResource, gpu_resource

KEY = corpora.CorpusKey("asq_phi", "it_IT")
TEXT = "Is warfarin safe for Brenda Quill, seen on March 3, 2021 (MRN: 4471982)? Ms. Quill is 61."
SPANS = (
    ("Brenda Quill", "NAME"),
    ("March 3, 2021", "DATE"),
    ("4471982", "MEDICAL_RECORD_NUMBER"),
    ("Quill is", "NAME"),
)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one corpus."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "asq_phi").mkdir()
    spans = []
    for surface, label in SPANS:
        start = TEXT.index(surface)
        named = surface.removesuffix(" is")
        spans.append([start, start + len(named), label, named])
    with gzip.open(folder / "asq_phi" / "queries.jsonl.gz", "wt") as stream:
        for number in range(30):
            stream.write(json.dumps({"note_id": f"q{number}", "lang": "en", "text": TEXT, "spans": spans}) + "\n")
        stream.write(json.dumps({"note_id": "broken", "text": "short", "spans": [[0, 99, "NAME"]]}) + "\n")
    return folder


@pytest.fixture(scope="module", autouse=True)
def _no_folder_of_the_environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DEID_CORPORA", raising=False)
        yield


@pytest.fixture(scope="module")
def config(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("installation") / "deid.toml"
    path.write_text(f'site = "corpora_test"\nprofile = "demo"\n[corpora]\nfolder = "{published}"\n', encoding="utf-8")
    home = path.parent / ".deid"
    home.mkdir()
    (home / "secret").write_text(os.urandom(32).hex())
    return path


@pytest.fixture(scope="module")
def site(config: Path) -> Site:
    return Site(load_settings(config))


@pytest.fixture(scope="module")
def made(site: Site) -> corpora.Made:
    return corpora.make(site, KEY)


def test_both_parts_are_sealed_with_their_topics(site: Site, made: corpora.Made) -> None:
    assert sum(made.notes.values()) == 30
    assert all(made.notes[part] for part in Part)
    # Half of the carriers are read for each part, and the broken line each time.
    assert made.refused == 2
    assert made.identifiers == 30 * len(SPANS)
    rows = site.store.rows(tables.SURROGATE_NOTES, KEY.partition)
    known = {row["patient_id"]: row for row in site.store.rows(tables.SURROGATE_TOPICS["patients"], KEY.partition)}
    staff = {row["provider_id"] for row in site.store.rows(tables.SURROGATE_TOPICS["providers"], KEY.partition)}
    for row in rows:
        surfaces = {row["text"][span["start"] : span["end"]] for span in row["gold"]}
        patient = known[row["patient_id"]]
        assert {f"{patient['first_name']} {patient['last_name']}", patient["mrn"]} <= surfaces
        assert row["provider_id"] in staff
        assert not {"Brenda", "Quill", "4471982"} & set(row["text"].replace(",", " ").replace(")", " ").split())


@pytest.mark.usefixtures("made")
def test_statistics_and_scores_are_of_the_parts(site: Site) -> None:
    found = corpora.statistics(site, KEY)
    assert {part: it.notes for part, it in found.items()} == corpora.make(site, KEY).notes
    assert dict(found[Part.TEST].rows())["share of notes with an identifier"] == 1.0
    with pytest.raises(DeidError) as raised:
        corpus_scores.scores(site, KEY)
    assert raised.value.code is Code.NOT_MATERIALIZED
    assert corpus_scores.detect(site, KEY) == found[Part.TEST].notes
    scores = corpus_scores.scores(site, KEY)
    assert scores["topics"].notes == scores["text"].notes == found[Part.TEST].notes
    assert (scores["topics"].recall.value or 0) >= (scores["text"].recall.value or 0) > 0.3
    assert corpus_figure({str(part): it for part, it in found.items()}, "x").startswith(b"\x89PNG")


@pytest.mark.usefixtures("made")
def test_what_each_source_adds_is_sealed_and_shown(site: Site, config: Path) -> None:
    resources = {"site": SiteResource(config=str(config)), "gpu": gpu_resource()}
    done = dg.materialize([assets.contributions], resources=resources, selection=[assets.contributions])
    (event,) = done.get_asset_materialization_events()
    shown = event.step_materialization_data.materialization.metadata
    rows = {row["source"]: row for row in site.store.rows(tables.CONTRIBUTIONS, tables.ALL)}
    assert shown["sources"].value == len(rows)
    assert rows["model:minilm"]["right"] > 0
    assert shown["model_seconds_on_processor"].value > 0 == shown["gpu_seconds"].value
    assert any(row["right"] for source, row in rows.items() if source.startswith("rules:"))
    assert "| model:minilm | " in shown["most_added"].value
    assert shown["sources_that_add_nothing"].value == sum(not row["right_alone"] for row in rows.values())


@pytest.mark.usefixtures("made")
def test_what_is_sealed_is_measured_on_while_it_is_what_would_be_made(
    site: Site, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew, topics = corpora.notes_of_test(site.settings, KEY, most=5)
    monkeypatch.setattr(corpora, "notes_of_test", lambda *_, **__: pytest.fail("made anew"))
    assert corpora.is_made(site, KEY)
    assert corpora.test_notes(site, KEY, most=5) == (anew, topics)
    os.utime(published / "asq_phi" / "queries.jsonl.gz", (1, 1))  # another file, as far as anybody can tell
    assert not corpora.is_made(site, KEY)
    corpora.make(site, KEY)
    assert corpora.is_made(site, KEY)


@pytest.mark.process
def test_a_refresh_makes_the_corpora_of_deid_toml_that_ship_once(config: Path, tmp_path: Path) -> None:
    asked = tmp_path / "deid.toml"
    asked.write_text(
        f'site = "corpora_test"\nprofile = "demo"\nhome = "{config.parent}/.deid"\n'
        '[corpora]\nmade = ["hospital.en_US", "library_fr.fr_FR"]\n'
    )
    site = Site(load_settings(asked))
    keys = corpora.to_make(site)
    assert [key.partition for key in keys] == ["hospital.en_US", "library_fr.fr_FR"]
    with patch.dict(os.environ):  # puts back what it sets
        prepare_instance(site.settings, asked)
        assert [failure for _, failure in make_corpora(asked, keys, scores=False)] == [None, None]
        instance = dg.DagsterInstance.get()
    assert corpora.to_make(site) == []
    with instance:
        for name in ("surrogate_notes", "corpus_statistics"):
            assert instance.get_materialized_partitions(dg.AssetKey(["bench", name])) == {
                *("hospital|en_US", "library_fr|fr_FR"),
            }
    assert corpora.statistics(site, keys[0])[Part.TEST].notes == 200
    assert corpora.statistics(site, keys[1])[Part.TEST].notes == 25
    names = {row["patient_id"] for row in site.store.rows(tables.SURROGATE_NOTES, "library_fr.fr_FR")}
    assert len(names) > 10


@pytest.mark.parametrize("asked", ["hospitol.en_US", "hospital.en_UX"])
def test_a_corpus_of_deid_toml_that_there_is_not_is_named(config: Path, tmp_path: Path, asked: str) -> None:
    (tmp_path / "deid.toml").write_text(f'site = "x"\nprofile = "demo"\n[corpora]\nmade = ["{asked}"]\n')
    with pytest.raises(DeidError, match=r"hospital|en_US") as raised:
        corpora.to_make(Site(load_settings(tmp_path / "deid.toml")))
    assert raised.value.code in (Code.CORPUS_UNKNOWN, Code.LOCALE_UNKNOWN)


@pytest.mark.process
def test_the_command_makes_a_corpus_with_scores(config: Path) -> None:
    done = deid("corpora", "make", "asq_phi", "--locale", "hi", "--scores", "--config", str(config))
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "asq_phi in hi: made")
    missing = deid("corpora", "make", "mtsamples", "--config", str(config))
    assert missing.returncode == 1
    assert "mtsamples in en_US: corpus-missing [mtsamples]" in missing.stderr
    assert deid("corpora", "make", "asq_phy", "--config", str(config)).stderr.startswith("corpus-unknown")


@pytest.mark.usefixtures("made")
def test_a_training_reads_the_training_part_that_is_sealed(site: Site) -> None:
    with training_parts(site, [KEY.partition]) as (file,):
        read = {gold.note_id: gold for gold in GoldSet(file)}
    assert not file.exists()
    wanted = {note.note_id: (note.text, spans) for note, spans, _ in corpora.sealed(site, KEY, Part.TRAINING)}
    assert {name: gold.note.text for name, gold in read.items()} == {name: text for name, (text, _) in wanted.items()}
    for name, gold in read.items():
        assert [(it.start, it.end, it.label) for it in gold.spans] == [
            (it.start, it.end, it.label) for it in wanted[name][1]
        ]
    with pytest.raises(DeidError) as raised, training_parts(site, ["asq_phi.ar"]):
        pass
    assert raised.value.code is Code.NOT_MATERIALIZED


def test_a_corpus_that_is_not_here_is_refused(site: Site) -> None:
    with pytest.raises(DeidError) as raised:
        corpora.make(site, corpora.CorpusKey("mtsamples", "zh"))
    assert (raised.value.code, raised.value.ref) == (Code.CORPUS_MISSING, "mtsamples")


@pytest.mark.parametrize("key", [corpora.CorpusKey("asq_phy", "zh"), corpora.CorpusKey("asq_phi", "zz")])
def test_an_unknown_corpus_or_locale_is_refused_with_the_nearest(site: Site, key: corpora.CorpusKey) -> None:
    with pytest.raises(DeidError) as raised:
        corpora.make(site, key)
    assert raised.value.code in (Code.CORPUS_UNKNOWN, Code.LOCALE_UNKNOWN)


def test_scores_by_corpus_and_locale_name_the_worst(site: Site) -> None:
    keys = [KEY, corpora.CorpusKey("asq_phi", "en_US")]
    found = [corpora.score_corpus(site.settings, key, DetectorSpec("rules"), LocalEngine(), most=10) for key in keys]
    page = corpus_scores_markdown(found)
    worst = min(found, key=lambda row: row.text_recall or 0)
    assert f"worst locale: `{worst.locale}`" in page
    assert f"| `en_US` | {found[1].recall:.3f} / {found[1].text_recall:.3f} |" in page


def test_the_assets_show_counts_a_table_and_a_picture_and_no_text(config: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        done = dg.materialize(
            assets.corpus_assets(load_settings(config)),
            partition_key=dg.MultiPartitionKey({"corpus": KEY.corpus, "locale": KEY.locale}),
            resources={"site": SiteResource(config=str(config)), "gpu": gpu_resource()},
            instance=instance,
        )
        assert done.success
        shown = {
            "/".join(event.asset_key.path): event.step_materialization_data.materialization.metadata
            for event in done.get_asset_materialization_events()
        }
    assert shown["bench/surrogate_notes"]["carriers_refused"].value == 2
    assert "image/png" in shown["bench/corpus_statistics"]["picture"].value
    assert shown["bench/corpus_detections"]["model_seconds_on_processor"].value > 0
    assert "gpu_seconds" not in shown["bench/corpus_scores"], "it runs no model"
    assert 0.3 < shown["bench/corpus_scores"]["recall_text"].value <= 1
    assert "warfarin" not in str(shown)


def test_the_commands_list_fill_and_tell_locales(config: Path, made: corpora.Made, tmp_path: Path) -> None:
    listed = deid("corpora", "--json", "--config", str(config))
    rows = {row["name"]: row for row in map(json.loads, listed.stdout.splitlines())}
    assert (rows["asq_phi"]["readable_here"], rows["asq_phi"]["notes"]) == (True, 30)
    assert (rows["asq_phi"]["left_out"], rows["asq_phi"]["near_copies"]) == (0, 0)
    assert {part: rows["asq_phi"][part] for part in Part} == made.notes
    assert {part: rows["asq_phi"][f"{part}_carriers"] for part in Part} == made.notes
    assert rows["mtsamples"]["readable_here"] is False
    assert (rows["hospital"]["readable_here"], rows["hospital"]["training"], rows["hospital"]["test"]) == (
        True,
        200,
        200,
    )
    assert (rows["i2b2"]["readable_here"], rows["conll"]["readable_here"]) == (False, False)
    assert rows["brat"]["kind"] == "format"
    folder = tmp_path / "filled"
    filled = deid("corpora", "fill", "asq_phi", str(folder), "--locale", "zh", "--config", str(config))
    assert filled.returncode == 0, filled.stderr
    assert sorted(path.name for path in (folder / "feed" / "1").iterdir()) == [
        *("facilities.csv", "notes.jsonl.gz", "patients.csv", "providers.csv"),
    ]
    scored = deid("evaluate", str(folder / "gold" / "1.jsonl.gz"), "--json", "--resamples", "2")
    assert scored.returncode == 0, scored.stderr
    again = deid("corpora", "fill", "asq_phi", str(folder), "--config", str(config))
    assert (again.returncode, again.stderr.split()[0]) == (1, "output-unusable")
    for option, value, said in (("--scan", "wet", "scan, copy, fax"), ("--part", "dev", "training, test")):
        refused = deid("corpora", "fill", "asq_phi", str(tmp_path / "no"), option, value, "--config", str(config))
        assert refused.returncode == 2
        assert said in " ".join(refused.stderr.replace("│", " ").split())
    fewer = deid("corpora", "fill", "asq_phi", str(tmp_path / "few"), "--notes", "2", "--config", str(config))
    assert "2 notes of asq_phi in en_US, test part" in fewer.stderr
    locales = deid("corpora", "locales", "--json")
    assert {json.loads(line)["locale"] for line in locales.stdout.splitlines()} >= {"en_US", "zh", "ar"}
