"""Plans of the leaderboard: what a file may say, and what the shipped one covers."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from deid_platform.bench.leaderboard.detectors import word_of, word_of_joined
from deid_platform.bench.leaderboard.plan import CHAT, OURS, load_plan, parse_plan, plan_names, plan_of
from deid_platform.corpora.catalogue import LICENSED, PUBLISHED
from deid_platform.detection.named import UNRECOVERED
from deid_platform.detection.peers.claims import CLAIMS
from deid_platform.detection.peers.process import Peer
from deid_platform.detection.registry import DETECTORS as REGISTERED
from deid_platform.errors import Code, DeidError
from deid_platform.llm.prompts import prompt, prompt_names
from deid_platform.settings import load_settings
from deid_platform.warehouse.quality.lab import (
    CHATS,
    DETECTORS,
    GOLDS,
    JUDGES,
    KNOWN_CHATS,
    MODELS,
    OWN_PROMPT,
    TRAINED,
)
from deid_platform.warehouse.quality.lab import CLAIMS as CLAIMED

SEEDS = Path(__file__).parents[3] / "dbt" / "seeds"
PLAN = """
says: A trial.
detectors: [rules, "modified-presidio:spacy:en_core_web_sm"]
corpora:
  asq_phi: {locales: [hi, bn], notes: 3}
  mtsamples: {locales: [zh]}
"""


def test_a_plan_says_what_is_measured_on_how_many_notes() -> None:
    plan = parse_plan(PLAN.encode())
    assert [key.partition for key in plan.corpus_keys()] == ["asq_phi.hi", "asq_phi.bn", "mtsamples.zh"]
    assert plan.peers == ("modified-presidio:spacy:en_core_web_sm",)
    assert [plan.notes_of(name) for name in ("asq_phi", "mtsamples", "e3c_it")] == [3, 10, 10]


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("says: A trial.\n", "", "says (it has to be set)"),
        ("says: A", "title: x\nsays: A", "title (there is no such key)"),
        ("says: A", "Zebulon Quill: x\nsays: A", "a key (there is no such key)"),
        ("says: A", "says: x\nsays: A", "not YAML without doubled keys"),
        ("[rules,", "[rulez,", "detectors"),
        ("[rules,", "[rules, rules,", "detectors"),
        (":spacy:", ":stanza:", "detectors"),
        ("[rules,", "[rules, chat:guess,", "detectors"),
        ("[zh]", "[zz]", "corpora.mtsamples.locales"),
        ("[zh]", "[]", "corpora.mtsamples.locales"),
        ("[zh]", "[as written]", "corpora.mtsamples.locales"),
        ("notes: 3", "notes: 0", "corpora.asq_phi.notes"),
        ("notes: 3", "note: 3", "corpora.asq_phi.note (there is no such key)"),
        ("  mtsamples", "  Zebulon Quill", "corpora (corpus)"),
        (PLAN, "- Zebulon Quill", "plan"),
    ],
)
def test_a_faulty_key_is_named_and_no_value(before: str, after: str, named: str) -> None:
    assert before in PLAN
    with pytest.raises(DeidError) as error:
        parse_plan(PLAN.replace(before, after).encode())
    assert error.value.code is Code.PLAN_INVALID
    assert named in str(error.value.ref)
    assert "Zebulon" not in str(error.value)


def test_a_plan_names_models_of_ones_own_alone_in_the_ensemble_and_joined_with_a_peer() -> None:
    names = ("model:/models/clinical", "ensemble:ours", "modified-model:ours", "model:ours+presidio:spacy:en")
    plan = parse_plan(PLAN.replace("[rules,", f"[{', '.join(f'{it!r}' for it in names)},").encode())
    assert plan.detectors[:4] == names
    assert plan.peers == ("presidio:spacy:en", "modified-presidio:spacy:en_core_web_sm")


@pytest.mark.parametrize(
    "name", ["model:", "model", "rules:", "modified-rules", "patterns", "model:+presidio", "ensemble:x+presidio"]
)
def test_a_plan_refuses_what_names_no_detector(name: str) -> None:
    with pytest.raises(DeidError) as error:
        parse_plan(PLAN.replace("[rules,", f"[{name!r},").encode())
    assert error.value.code is Code.PLAN_INVALID


def test_a_plan_is_a_name_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    assert load_plan(tmp_path / "plan.yaml").says == "A trial."
    with pytest.raises(DeidError, match="papers") as error:
        load_plan("paper")
    assert error.value.code is Code.PLAN_UNKNOWN
    (tmp_path / "deid.toml").write_text('site = "north"\n[bench]\nplan = "plan.yaml"\n')
    settings = load_settings(tmp_path / "deid.toml")
    assert plan_of(settings).says == "A trial."  # beside deid.toml, whatever the current folder
    assert plan_of(settings, "papers").says != "A trial."


def test_the_plan_of_the_papers_has_every_published_corpus_and_all_that_a_paper_is_set_beside() -> None:
    assert plan_names() == ("chat", "papers")
    plan = load_plan("papers")
    assert set(plan.corpora) == {*PUBLISHED, *LICENSED} <= set(GOLDS)
    assert {word_of(Peer.parse(f"{it}=x")) for it in plan.peers} >= {
        "presidio",
        "modified-presidio",
        "pydeid",
        "philter",
    }
    assert set(OURS) <= set(plan.detectors)
    with (SEEDS / "nearest_corpus.csv").open(encoding="utf-8", newline="") as file:
        beside = {(row["gold"], row["locale"]) for row in csv.DictReader(file)}
    # The bench itself measures on the first three; a site's own corpora have names of its own.
    elsewhere = ("site", "library", "synthetic_hospital", "own-%-as-written")
    beside = {it for it in beside if it[0] not in elsewhere}
    assert beside <= {key.gold(None) for key in plan.corpus_keys()}


def test_the_plan_of_chat_models_has_every_prompt_in_its_language_beside_ours_and_peers() -> None:
    plan = load_plan("chat")
    chats = [name.removeprefix(CHAT) for name in plan.detectors if name.startswith(CHAT)]
    assert sorted(chats) == list(prompt_names())
    assert (
        {prompt(name).language for name in chats} == {PUBLISHED[name].language for name in plan.corpora} == {"en", "it"}
    )
    assert plan.detectors[:2] == OURS[:2]
    assert plan.peers == ("presidio", "pydeid", "philter")
    assert {plan.notes_of(name) for name in plan.corpora} == {40}
    assert {f"chat-{name}" for name in prompt_names()} == set(CHATS) <= set(DETECTORS)


def test_a_model_joined_with_presidio_has_the_word_of_the_paper() -> None:
    assert word_of_joined("modified-bert", "modified-presidio") == "modified-bert-presidio"
    assert word_of_joined("bert", "presidio") == "bert-presidio"
    assert word_of_joined("bert", "modified-presidio") == word_of_joined("bert", "presidio-patterns") == "bert-peer"


def test_every_word_of_the_laboratory_is_that_of_a_detector() -> None:
    words = {
        word_of(Peer.parse(f"{variant}{adapter}:{engine}:x=" if engine else f"{variant}{adapter}="))
        for variant in ("", "modified-")
        for adapter, engines in CLAIMS.items()
        for engine in engines
    }
    assert words <= set(DETECTORS)
    assert {f"claimed by {word}" for word in words} == set(CLAIMED)
    kinds = ("bert", "model-own", "model-shipped")  # tests/detection/test_named.py has which is which
    alone = {f"{variant}{kind}" for variant in ("", "modified-") for kind in kinds}
    joined = {word_of_joined(model, peer) for model in alone for peer in words}
    assert {"ensemble-own", *alone, *joined} == set(MODELS)
    # Nothing else may be in a figure: every word is that of a detector that can be measured.
    chats = {*CHATS, OWN_PROMPT, *KNOWN_CHATS}  # test_leaderboard.py and test_real_models.py
    assert set(DETECTORS) == {*REGISTERED, UNRECOVERED, *words, *MODELS, *chats, *TRAINED, *JUDGES, "lexical-judge"}
    patterns, with_names = (word_of(Peer.parse(it)) for it in ("presidio=", "presidio:spacy:x="))
    assert (patterns, with_names) == ("presidio-patterns", "presidio")  # the papers' own has a model
