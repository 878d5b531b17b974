"""Any detector on any surrogate corpus: what is recorded, what is not measured again, what is left out and named.

Over invented queries in the form of a published corpus, and with a program in place of a peer.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from chat_endpoint import Reply, serving
from command_line import deid
from sqlalchemy import text
from toy_engine import engine, weights

from assets import leaderboard as assets
from deid_platform.bench.leaderboard import leaderboard
from deid_platform.bench.leaderboard.corpora import CorpusKey
from deid_platform.bench.leaderboard.detectors import Detectors, peer_of
from deid_platform.bench.leaderboard.leaderboard import (
    Leaderboard,
    Measured,
    NotesToScore,
    NotMeasured,
    carried_out,
    claims_of_peers,
    here,
    notes_to_score,
)
from deid_platform.bench.leaderboard.plan import BenchPlan, load_plan, parse_plan
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.peers.claims import CLAIMS, claimed
from deid_platform.detection.registry import SHIPPED
from deid_platform.errors import Code, DeidError
from deid_platform.llm.api import ChatRequest
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.leaderboard_table import COLUMNS, Scored, board_rows
from deid_platform.settings import LlmSettings, VllmSettings, load_settings
from deid_platform.warehouse.quality.lab import LabScore
from deid_platform.warehouse.server.roles import Role
from resources import SiteResource, gpu_resource

pytestmark = pytest.mark.process

TEXT = "Is warfarin safe for Brenda Quill, seen on March 3, 2021 (MRN: 4471982)? Ms. Quill is 61."
SPANS = (("Brenda Quill", "NAME"), ("March 3, 2021", "DATE"), ("4471982", "MEDICAL_RECORD_NUMBER"))
PLAN = """
says: A trial.
notes: 12
detectors: [rules, pydeid, philter]
corpora:
  asq_phi: {locales: [en_US]}
  meddocan: {locales: [es_ES]}
  mtsamples: {locales: [zh]}
"""
# Speaks as the adapters do, whatever it is told: years are dates, and a drug is a time of day, for which pyDeid's
# crosswalk claims no label.
PEER = f"""#!{sys.executable}
import json, os, re, sys
KINDS = {{"Year": r"\\b(19|20)\\d\\d\\b", "Time": "warfarin"}}
print(json.dumps({{"ready": True, "version": "VERSION"}}), flush=True)
for line in sys.stdin:
    texts = json.loads(line)
    if "FAILS" in sys.argv or any(name.startswith("DEID_") for name in os.environ):
        break
    found = [[(*m.span(), kind) for kind, p in KINDS.items() for m in re.finditer(p, text)] for text in texts]
    print(json.dumps({{"found": found, "seconds": 0.5}}), flush=True)
"""


@pytest.fixture(scope="module")
def site(installation: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("published")
    for name, scheme in (("asq_phi/queries", {}), ("meddocan/dev", {"NAME": "NOMBRE_SUJETO_ASISTENCIA"})):
        (folder / name).parent.mkdir()
        spans = []
        for surface, label in SPANS:
            start = TEXT.index(surface)
            spans.append([start, start + len(surface), scheme.get(label, label), surface])
        if scheme:
            spans = [span for span in spans if span[2] == scheme["NAME"]]
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as stream:
            for number in range(40):
                row = {"note_id": f"q{number}", "text": TEXT, "spans": spans}
                stream.write(json.dumps(row) + "\n")
    (peer := folder / "peer").write_text(PEER)
    peer.chmod(0o700)
    with installation.open("a") as config:  # its last section is [bench]
        config.write('plan = "plan.yaml"\nresamples = 20\n')
        config.write(f'[peers]\npydeid = "{peer}"\nphilter = "{folder}/nothing"\n')
    installation.with_name("plan.yaml").write_text(PLAN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEID_CORPORA", str(folder))
        yield Site(load_settings(installation))


@pytest.fixture(scope="module")
def plan() -> BenchPlan:
    return parse_plan(PLAN.encode())


@pytest.fixture(scope="module")
def measured(site: Site, plan: BenchPlan) -> list[Measured | NotMeasured]:
    keys, _ = here(site, plan)
    with Detectors(site, plan.detectors) as detectors:
        return list(carried_out(site, plan, keys, detectors))


def figures(site: Site, **wanted: str) -> list[dict[str, object]]:
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        rows = connection.execute(text("SELECT * FROM quality.lab_scores WHERE locale <> ''")).mappings().all()
    return [dict(row) for row in rows if wanted.items() <= row.items()]


def test_what_is_not_here_is_named_and_left_out(site: Site, plan: BenchPlan) -> None:
    keys, elsewhere = here(site, plan)
    assert ([key.partition for key in keys], elsewhere) == (["asq_phi.en_US", "meddocan.es_ES"], ["mtsamples"])
    with Detectors(site, [*plan.detectors, "deidentify:crf:x"]) as detectors:
        assert [it.name for it in detectors] == ["rules", "pydeid"]
        assert set(detectors.missing) == {"philter", "deidentify:crf:x"}
        assert "[peers]" in detectors.missing["deidentify:crf:x"]
    with pytest.raises(DeidError) as error:
        peer_of(site.settings, "pydied")
    assert error.value.code is Code.PEER_UNKNOWN


def test_each_detector_is_measured_on_what_it_reads(measured: list[Measured | NotMeasured]) -> None:
    found = [it for it in measured if isinstance(it, Measured)]
    assert [(it.key.corpus, it.name, [one.given for one in it.scored]) for it in found] == [
        ("asq_phi", "rules", ["topics", "text"]),
        ("asq_phi", "pydeid", ["text"]),
        ("meddocan", "rules", ["topics", "text"]),  # in Spanish: no peer reads that
    ]
    assert all(it.anew for it in found)
    assert {one.notes for it in found for one in it.scored} == {12}


@pytest.mark.usefixtures("measured")
def test_each_detector_has_looked_once_at_what_it_was_measured_on(site: Site, measured) -> None:
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        rows = connection.execute(
            text("SELECT gold, locale, notes, detectors FROM quality.held_out_sets WHERE locale <> ''")
        ).all()
    assert {(row.gold, row.locale): (row.notes, row.detectors) for row in rows} == {
        ("asq_phi", "en_US"): (10, 2),
        ("meddocan", "es_ES"): (10, 1),
    }


def test_analysts_see_words_tokens_cost_and_what_a_peer_claims(site: Site) -> None:
    of_peer = figures(site, detector="pydeid", gold="asq_phi", locale="en_US", inputs="text")
    shown = {(row["family"], row["subject"], row["measure"]): row for row in of_peer}
    # Of a note's words of identifiers (a name, a date, a number) it finds the year, and it hides one word too many.
    recall = shown["words", "ALL", "recall"]
    assert recall["n"] >= 12 * 5
    assert recall["value"] == pytest.approx(12 / recall["n"], abs=1e-4)
    claims = {measure: shown["words", "claimed by pydeid", measure] for measure in ("recall", "precision")}
    assert claims["recall"]["n"] == recall["n"]  # names, dates and record numbers are all among its claims
    assert (claims["precision"]["value"], shown["words", "ALL", "precision"]["value"]) == (1.0, 0.5)
    assert shown["words", "claimed by pydeid", "labels_claimed"]["value"] == len(claimed(CLAIMS["pydeid"][None]))
    assert shown["tokens", "ALL", "recall_conservative"]["n"] == shown["tokens", "ALL", "recall"]["n"] > 0
    words = sum(len(note.text.split()) for note in notes_to_score(site, CorpusKey("asq_phi", "en_US"), 12).notes)
    assert shown["cost", "ALL", "words_per_second"]["value"] == pytest.approx(words / 0.5, rel=0.2)
    assert shown["cost", "ALL", "seconds_per_note"]["value"] == pytest.approx(0.5 / 12, rel=0.2)
    # Ours beside it on the same labels, on the text alone and where peers are.
    ours = figures(site, detector="rules", measure="recall", family="words")
    subjects = {(row["gold"], row["inputs"], row["subject"]) for row in ours}
    assert {subject for gold, inputs, subject in subjects if (gold, inputs) == ("asq_phi", "text")} == {
        *("ALL", *(f"claimed by {word}" for word in claims_of_peers())),
    }
    assert {subject for gold, inputs, subject in subjects if (gold, inputs) != ("asq_phi", "text")} == {"ALL"}
    assert {row["detector_digest"] for row in ours} == {site.spec(None).detector_digest}


def again(site: Site, plan: BenchPlan) -> list[tuple[str, str, bool]]:
    keys, _ = here(site, plan)
    with Detectors(site, plan.detectors) as detectors:
        found = [it for it in carried_out(site, plan, keys, detectors) if isinstance(it, Measured)]
    return [(it.key.corpus, it.name, it.anew) for it in found]


@pytest.mark.usefixtures("measured")
def test_what_has_not_changed_is_not_measured_again(
    site: Site, plan: BenchPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(figures(site))
    assert [anew for *_, anew in again(site, plan)] == [False, False, False]
    # A run that stopped: what it had sealed is there, the rest is not.
    shutil.rmtree(site.settings.home_path / "store" / tables.DETECTOR_SCORES / "meddocan.es_ES.rules")
    assert [it for it in again(site, plan) if it[2]] == [("meddocan", "rules", True)]
    # Another version of a peer, other notes.
    peer = site.settings.peers["pydeid"]
    peer.write_text(PEER.replace("VERSION", "2"))
    assert [it for it in again(site, plan) if it[2]] == [("asq_phi", "pydeid", True)]
    peer.write_text(PEER)
    fewer = parse_plan(PLAN.replace("{locales: [es_ES]}", "{locales: [es_ES], notes: 11}").encode())
    assert [it[:2] for it in again(site, fewer) if it[2]] == [("asq_phi", "pydeid"), ("meddocan", "rules")]
    # Of another version of the peer there are figures beside those of the first.
    assert len(figures(site)) == before + len(figures(site, detector="pydeid")) // 2


@pytest.mark.usefixtures("measured")
def test_what_is_sealed_and_not_in_the_warehouse_is_recorded_again(site: Site, plan: BenchPlan) -> None:
    with site.warehouse.administer() as connection:
        connection.exec_driver_sql("SET session_replication_role = replica")  # past append-only
        connection.exec_driver_sql("DELETE FROM quality.lab_score WHERE gold = 'asq_phi' AND detector = 'rules'")
    assert not figures(site, gold="asq_phi", detector="rules")
    again(site, plan)
    assert figures(site, gold="asq_phi", detector="rules")
    with site.warehouse.administer() as connection:
        connection.exec_driver_sql("DELETE FROM quality.word WHERE word = 'rules'")
    try:
        with pytest.raises(DeidError) as error:  # nobody would see a figure
            again(site, plan)
        assert error.value.code is Code.WAREHOUSE_NOT_READY
    finally:
        with site.warehouse.administer() as connection:
            connection.exec_driver_sql("INSERT INTO quality.word VALUES ('detector', 'rules')")


def test_a_peer_that_fails_holds_up_nobody(site: Site, plan: BenchPlan) -> None:
    peer = site.settings.peers["pydeid"]
    peer.write_text(PEER.replace('"FAILS" in sys.argv', "True").replace("VERSION", "fails"))
    try:
        keys, _ = here(site, plan)
        with Detectors(site, ["pydeid", "rules"]) as detectors:
            found = list(carried_out(site, plan, keys, detectors))
    finally:
        peer.write_text(PEER)
    (failed,) = (it for it in found if isinstance(it, NotMeasured))
    assert (failed.name, failed.key.corpus, failed.failure.code) == ("pydeid", "asq_phi", Code.PEER_FAILED)
    assert len(found) == 3


def test_models_of_ones_own_are_measured_alone_in_the_ensemble_and_joined_with_a_peer(
    site: Site, installation: Path
) -> None:
    own = installation.with_name("models") / "own"  # a folder of deid.toml's neighbourhood
    shutil.copytree(ModelFolder.shipped(SHIPPED).path, own)
    (broken := own.with_name("broken")).mkdir()
    (broken / "config.json").write_text('{"id2label": {"0": "O", "1": "B-WARD"}}')
    here_ = ["model:models/own", "ensemble:models/own", "model:models/own+pydeid"]
    elsewhere = ["model:models/none", "model:models/broken", "model:models/own+philter"]
    plan = parse_plan(PLAN.replace("[rules, pydeid, philter]", json.dumps(here_ + elsewhere)).encode())
    with Detectors(site, plan.detectors) as detectors:
        assert [it.name for it in detectors] == here_
        assert detectors.missing.keys() == set(elsewhere)
        assert "B-WARD is a tag of no label scheme" in detectors.missing["model:models/broken"]
        digests = {it.name: it.digest for it in detectors}
        keys, _ = here(site, plan)
        found = list(carried_out(site, plan, keys, detectors))
    assert [(it.name, it.key.corpus) for it in found if isinstance(it, Measured)] == [
        *((name, "asq_phi") for name in here_),
        *((name, "meddocan") for name in here_[:2]),
    ]
    shown = {
        word: {(row["inputs"], row["detector_digest"]) for row in figures(site, detector=word, gold="asq_phi")}
        for word in ("model-own", "ensemble-own", "model-own-peer")
    }
    assert shown == {
        "model-own": {("text", digests[here_[0]])},
        "ensemble-own": {("topics", digests[here_[1]]), ("text", digests[here_[1]])},
        "model-own-peer": {("text", digests[here_[2]])},
    }
    recalls = {
        word: figures(
            site, detector=word, gold="asq_phi", inputs="text", family="words", subject="ALL", measure="recall"
        )
        for word in ("model-own", "pydeid", "model-own-peer")
    }
    alone, peer, both = (float(str(rows[-1]["value"])) for rows in recalls.values())
    assert max(alone, peer) <= both
    with Detectors(site, here_) as detectors:
        assert [it.anew for it in carried_out(site, plan, keys, detectors) if isinstance(it, Measured)] == [False] * 5


def test_a_prompt_is_measured_with_failed_notes_missed_and_left_out(site: Site) -> None:
    plan = parse_plan(
        PLAN.replace("[rules, pydeid, philter]", '["chat:extract-zero", "chat:extract-zero-it"]').encode()
    )
    keys, _ = here(site, plan)
    with Detectors(site, plan.detectors) as detectors:
        assert set(detectors.missing) == {"chat:extract-zero", "chat:extract-zero-it"}
    answered = 0

    def script(body: dict[str, Any], count: int) -> Reply:
        nonlocal answered
        answered += 1
        if answered > 5 and not up:
            return Reply(status=400)
        who = re.search("safe for (.+?), seen", body["messages"][-1]["content"])
        if who is None or answered % 4 == 0:
            return Reply("I would rather not.")
        return Reply(json.dumps([{"text": who[1], "label": "PATIENT"}, {"text": "warfarin", "label": "MIND"}]))

    with serving(script) as endpoint:
        llm = LlmSettings(url=endpoint.url, model="toy", concurrency=1)
        served = Site(site.settings.model_copy(update={"llm": llm}))

        def run() -> list[Measured | NotMeasured]:
            with Detectors(served, plan.detectors) as detectors:
                return list(carried_out(served, plan, keys, detectors))

        up = False
        (failed,) = run()  # the other prompt reads Italian
        assert isinstance(failed, NotMeasured)
        assert (failed.name, failed.failure.code) == ("chat:extract-zero", Code.ENDPOINT_FAILED)
        assert failed.failure.ref and failed.failure.ref.startswith("request: ")
        assert not figures(served, detector="chat-extract-zero")
        up, before = True, len(endpoint.received)
        (measured,) = run()
        assert isinstance(measured, Measured) and measured.anew
        # What was answered before is not asked again.
        asked = len(endpoint.received)
        assert 0 < asked - before < 12
        assert [it.anew for it in run() if isinstance(it, Measured)] == [False]
        assert len(endpoint.received) == asked
    (scored,) = measured.scored
    of = {it.measure: it for it in scored.scores if (it.family, it.subject) == ("words", "ALL")}
    assert scored.seconds is None and not [it for it in scored.scores if it.family == "cost"]
    failed_notes = of["notes_failed"]
    assert failed_notes.n == 12 and failed_notes.value and 0 < failed_notes.value < 1
    assert of["recall"].value and of["recall_answered"].value
    # What is found is found on notes that did not fail, which have fewer words of identifiers than all have.
    answered_recall, recall = of["recall_answered"], of["recall"]
    assert answered_recall.n and recall.n and answered_recall.n < recall.n
    assert answered_recall.value * answered_recall.n == pytest.approx(recall.value * recall.n)
    assert of["precision_answered"].value == of["precision"].value  # on a failed note nothing is hidden
    (row,) = (row for row in board_rows([scored]) if row[2] == "all")
    shown = dict(zip(COLUMNS, row, strict=True))
    assert (shown["notes failed"], shown["words per second"]) == (round(12 * failed_notes.value), None)
    assert shown["recall without them"] == of["recall_answered"].value


OWN = """name: mine
version: 1
language: en
task: extract
form: dictionary
labels: {WHO: PATIENT, PILL: null}
claims: [PATIENT]
messages:
- {role: user, content: "Who is in this note? {{note}}"}
"""


def test_a_prompt_of_ones_own_goes_to_a_model_of_this_process_and_is_shown_as_its_own(
    site: Site, tmp_path: Path
) -> None:
    def says(request: ChatRequest) -> str:
        who = re.search("safe for (.+?), seen", request.messages[-1].content)
        return json.dumps({"WHO": [who[1]] if who else [], "PILL": ["warfarin"]})

    (tmp_path / "own.yaml").write_text(OWN)
    (tmp_path / "plan.yaml").write_text(PLAN.replace("[rules, pydeid, philter]", '["chat:own.yaml"]'))
    plan = load_plan(tmp_path / "plan.yaml")  # a prompt is beside the plan, whatever the current folder
    served = Site(site.settings.model_copy(update={"vllm": VllmSettings(model=weights(tmp_path / "toy"))}))
    keys, _ = here(served, plan)
    with engine(says) as running, Detectors(served, plan.detectors) as detectors:
        (detector,) = detectors
        assert (detector.name, detector.word, running.loaded) == ("chat:mine", "chat-own", 0)
        detectors.again(detector.name)
        (measured,) = carried_out(served, plan, keys, detectors)
        assert running.loaded == 1
    assert isinstance(measured, Measured) and measured.name == "chat:mine"
    assert figures(served, detector="chat-own")
    claimed = {it.measure: it for it in measured.scored[0].scores if it.subject == "claimed by chat-own"}
    assert claimed["labels_claimed"].value == 1
    assert claimed["recall"].value and claimed["precision"].value == 1  # nothing of medicine was hidden


def test_two_prompts_of_one_name_have_no_place_in_a_plan(tmp_path: Path) -> None:
    for name in ("own.yaml", "other.yaml"):
        (tmp_path / name).write_text(OWN)
    detectors = '["chat:own.yaml", "chat:other.yaml"]'
    with pytest.raises(DeidError, match=r"plan-invalid.*detectors"):
        parse_plan(PLAN.replace("[rules, pydeid, philter]", detectors).encode(), tmp_path)


def test_the_asset_has_a_partition_for_each_corpus_locale_and_detector(site: Site, installation: Path) -> None:
    asset = assets.detector_scores(site.settings)
    keys = asset.partitions_def.get_partition_keys() if asset.partitions_def else []
    assert {"asq_phi.hi|rules", "asq_phi.hi|ensemble", "asq_phi.hi|pydeid", "e3c_it.it_IT|philter"} <= set(keys)
    assert not any("model" in key for key in keys)
    (installation.with_name("models.yaml")).write_text(
        PLAN.replace("[rules,", '["model:minilm", "model:minilm+pydeid",')
    )
    bench = site.settings.bench.model_copy(update={"plan": "models.yaml"})
    of_models = assets.detector_scores(site.settings.model_copy(update={"bench": bench})).partitions_def
    assert {"asq_phi.hi|model:minilm", "asq_phi.hi|model:minilm+pydeid"} <= set(of_models.get_partition_keys())
    in_process = site.settings.model_copy(update={"vllm": VllmSettings(model=Path("weights"))})
    prompts = assets.detector_scores(in_process).partitions_def
    assert prompts and {"asq_phi.hi|chat:tag-one", "e3c_it.it_IT|chat:rewrite-patient-one-it"} <= set(
        prompts.get_partition_keys()
    )
    assert not any("chat:" in key for key in keys)
    resources = {"site": SiteResource(config=str(installation)), "gpu": gpu_resource()}

    def shown(corpus: str, detector: str) -> dict[str, object]:
        key = dg.MultiPartitionKey({"corpus": corpus, "detector": detector})
        with dg.DagsterInstance.ephemeral() as instance:
            done = dg.materialize([asset], partition_key=key, resources=resources, instance=instance)
            (event,) = done.get_asset_materialization_events()
        return {k: v.value for k, v in event.step_materialization_data.materialization.metadata.items()}

    of_rules = shown("meddocan.es_ES", "rules")
    assert (of_rules["dagster/row_count"], of_rules["measured_anew"]) in ((12, False), (12, True))
    assert of_rules["recall_with_topics"] >= of_rules["recall_text"]
    assert "warfarin" not in str(of_rules)
    assert shown("meddocan.es_ES", "pydeid")["left_out"] == "pydeid does not read es"
    with pytest.raises(dg.Failure, match="peer-missing"):
        shown("asq_phi.en_US", "philter")


@pytest.mark.usefixtures("measured")
def test_the_command_lists_measures_and_ends_with_a_table(site: Site) -> None:
    listed = deid("bench", "--dry-run", "--json")
    assert "mtsamples" in listed.stderr and "philter" in listed.stderr
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [(row["corpus"], row["detector"], row["notes"]) for row in rows] == [
        *(("asq_phi", "rules", 12), ("asq_phi", "pydeid", 12), ("meddocan", "rules", 12)),
    ]
    done = deid("bench", "--json", "--no-marts")
    assert done.returncode == 0, done.stderr
    table = [json.loads(line) for line in done.stdout.splitlines()]
    assert {tuple(row) for row in table} == {tuple(column.replace(" ", "_") for column in COLUMNS)}
    (of_peer,) = (row for row in table if row["detector"] == "pydeid" and row["labels"] == "all")
    assert (of_peer["language"], of_peer["notes"], of_peer["notes_with_a_miss"]) == ("English", 12, 1.0)
    assert {row["language"] for row in table if row["detector"] == "rules"} == {"English", "others"}
    unknown = deid("bench", "--plan", "paper")
    assert (unknown.returncode, unknown.stderr.split()[0]) == (1, "plan-unknown")


@pytest.mark.parametrize("which", ["asq_phi", ""])
def test_a_corpus_without_test_notes_is_named_and_the_others_are_measured(
    site: Site, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def notes(site: Site, key: CorpusKey, most: int) -> NotesToScore:
        if key.corpus.startswith(which):
            raise DeidError(Code.INPUT_EMPTY, key.partition)
        return notes_to_score(site, key, most)

    monkeypatch.setattr(leaderboard, "notes_to_score", notes)
    listed = deid("bench", "--dry-run", "--json")
    assert "corpus without test notes, left out: asq_phi.en_US" in listed.stderr
    done = deid("bench", "--json", "--no-marts")
    assert "corpus without test notes, left out: asq_phi.en_US" in done.stderr
    # Where nothing is left to measure, whoever called is told.
    assert (done.returncode, bool(done.stdout)) == ((0, True) if which else (1, False)), done.stderr


def test_corpora_are_pooled_by_their_words_and_not_by_their_number() -> None:
    def of(recall: float, n: int, words: int, *, english: bool = True) -> Scored:
        scores = [LabScore("words", "recall", recall, n=n), LabScore("tokens", "recall", 0.0, n=n)]
        return Scored("rules", "text", english, 10, words, 2.0, scores)

    first, second = board_rows([of(0.5, 100, 1000), of(1.0, 300, 5000), of(0.1, 10, 10, english=False)])
    assert first == ("rules", "text", "all", "English", 20, 0.875, None, None, 1500.0, None, None, None)
    assert second[3:6] == ("others", 10, 0.1)


def test_a_note_that_changed_has_another_digest(site: Site) -> None:
    key = CorpusKey("asq_phi", "en_US")
    given, more = (notes_to_score(site, key, most) for most in (5, 6))
    assert given.digest == notes_to_score(site, key, 5).digest != more.digest
    assert "warfarin" not in repr(given)
    with Detectors(site, ["rules"]) as detectors:
        (rules,) = detectors
        assert not Leaderboard(site).is_measured(rules, given)
