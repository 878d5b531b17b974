"""A site's own corpora: every format of files is read by its own reader, and spans count where they are the gold."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.catalogue import carriers, corpus_of, has_gold_as_written, is_carrier, read_corpus
from deid_platform.corpora.feeds import DATABASES
from deid_platform.corpora.formats import FORMATS, gold_format, is_gold
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.injection.corpus import InjectionSpec, Part, inject, part_of
from deid_platform.corpora.overview import overview
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.settings import Settings, load_settings

TEXT = "Ann Poe came in June. She is well."
NOTE = Gold("n1", (Span(0, 7, Label.PATIENT, source="gold"),), note=Note("n1", TEXT))
MIMIC3 = "ROW_ID,SUBJECT_ID,HADM_ID,CHARTDATE,CHARTTIME,STORETIME,CATEGORY,DESCRIPTION,CGID,ISERROR,TEXT\n"
MIMIC4 = "note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text\n"
Write = Callable[[Path], object]


def hl7(folder: Path) -> None:
    lines = ("MSH|^~\\&|E|Elm|X|Y|20251130||MDM^T02|C1|P|2.5", "PID|1||p1^^^H^MR", "TXA|1|PN|TX|||||||||n1|")
    (folder / "in.hl7").write_text("\r".join((*lines, f"OBX|1|TX|1||{TEXT}")) + "\r")


def fhir(folder: Path) -> None:
    data = base64.b64encode(TEXT.encode()).decode()
    attachment = {"contentType": "text/plain", "data": data}
    row = {"resourceType": "DocumentReference", "id": "n1", "status": "current", "subject": {"reference": "Patient/p1"}}
    row["content"] = [{"attachment": attachment}]
    (folder / "DocumentReference.ndjson").write_text(json.dumps(row) + "\n")


# Format -> what writes a folder with the note; those with gold write it themselves.
WRITERS: dict[str, Write] = {
    "files": lambda folder: (folder / "notes.csv").write_text(f"note_id,text\nn1,{TEXT}\n"),
    "entities": lambda folder: (folder / "a.jsonl").write_text(
        json.dumps({"note_id": "n1", "text": TEXT, "entities": [{"text": TEXT[:7], "type": "PATIENT"}]})
    ),
    "ccda": lambda folder: (folder / "a.xml").write_text(
        '<ClinicalDocument xmlns="urn:hl7-org:v3"><id root="1.2" extension="n1"/><component><structuredBody><component>'
        f"<section><text>{TEXT}</text></section></component></structuredBody></component></ClinicalDocument>"
    ),
    "documents": lambda folder: (folder / "a.rtf").write_text(rf"{{\rtf1 {TEXT}}}"),
    "fhir": fhir,
    "hl7": hl7,
    "mimic3": lambda folder: (folder / "NOTEEVENTS.csv").write_text(f"{MIMIC3}n1,p1,1,,,,Nursing,R,1,,{TEXT}\n"),
    "mimic4": lambda folder: (folder / "discharge.csv").write_text(f"{MIMIC4}n1,p1,1,DS,1,,,{TEXT}\n"),
}
IN_ONE_FILE = {"jsonl": "a.jsonl", "conll": "a.conll", "labelstudio": "a.json"}


@pytest.fixture
def site(tmp_path: Path) -> Callable[..., Settings]:
    def of(**keys: str) -> Settings:
        path = tmp_path / "deid.toml"
        said = "".join(f'{key} = "{value}"\n' for key, value in {"path": "letters", **keys}.items())
        path.write_text(f'site = "north"\nprofile = "demo"\n[corpora.sets.letters]\n{said}', encoding="utf-8")
        return load_settings(path)

    return of


def read(settings: Settings) -> list[Gold | Rejection]:
    refused: list[Rejection] = []
    found = list(read_corpus(corpus_of("letters", settings), settings, refused=refused.append))
    return [*found, *refused]


def written(folder: Path, name: str, pdf: Callable[..., bytes]) -> None:
    folder.mkdir()
    if name == "scan":
        (folder / "a.pdf").write_bytes(pdf([TEXT]))
        (folder / "documents.csv").write_text("file,note_id\na.pdf,n1\n")
    elif name in WRITERS:
        WRITERS[name](folder)
    else:
        to = folder / IN_ONE_FILE[name] if name in IN_ONE_FILE else folder
        assert gold_format(name).write([NOTE], to) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_a_set_without_identifiers_has_the_texts_of_its_format_alone(
    name: str, site: Callable[..., Settings], tmp_path: Path, pdf: Callable[..., bytes]
) -> None:
    written(tmp_path / "letters", name, pdf)
    settings = site(format=name, scheme="i2b2-2014", slots="none", language="it")
    (gold,) = read(settings)
    assert isinstance(gold, Gold)
    assert gold.note is not None
    text = gold.note.text.strip().replace(" .", ".")  # in columns, a stop is a token
    # A line of JSON says its language itself.
    assert (gold.spans, text, gold.note.language) == ((), TEXT, "en" if name == "jsonl" else "it")
    corpus = corpus_of("letters", settings)
    assert is_carrier(corpus, settings)
    (carrier,) = carriers(corpus, settings, part_of(gold.note_id), refused=lambda _: pytest.fail("a rejection"))
    assert carrier.slots == ()
    (made,) = inject(InjectionSpec("letters", "it_IT", Part.TRAINING, weave=corpus.weave), [carrier])
    assert made.gold  # all identifiers of such a set are woven in


@pytest.mark.parametrize("name", [name for name in FORMATS if is_gold(name)])
def test_a_set_with_gold_has_its_spans(
    name: str, site: Callable[..., Settings], tmp_path: Path, pdf: Callable[..., bytes]
) -> None:
    written(tmp_path / "letters", name, pdf)
    settings = site(format=name, scheme="i2b2-2014", language="fr")
    (gold,) = read(settings)
    assert isinstance(gold, Gold)
    assert gold.note is not None
    assert gold.note.language == ("en" if name == "jsonl" else "fr")
    wanted = (
        [] if name.startswith("mimic") else [(0, 7, Label.PATIENT)]
    )  # placeholders are their gold, and here are none
    assert [(span.start, span.end, span.label) for span in gold.spans] == wanted


@pytest.mark.parametrize("name", [name for name in FORMATS if not is_gold(name)])
def test_a_format_without_gold_is_none_for_a_set_with_gold(
    name: str, site: Callable[..., Settings], tmp_path: Path, pdf: Callable[..., bytes]
) -> None:
    written(tmp_path / "letters", name, pdf)
    with pytest.raises(DeidError) as raised:
        read(site(format=name))
    assert (raised.value.code, raised.value.ref) == (Code.FORMAT_UNKNOWN, f"letters: {name} has no gold")


@pytest.mark.parametrize("name", [*DATABASES, "britt"])
def test_a_format_that_no_files_have_is_refused(name: str, site: Callable[..., Settings], tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    with pytest.raises(DeidError) as raised:
        read(site(format=name, slots="none"))
    assert raised.value.code is Code.FORMAT_UNKNOWN


def test_a_note_that_cannot_be_read_costs_itself_alone(site: Callable[..., Settings], tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    fhir(folder)
    with (folder / "DocumentReference.ndjson").open("a") as lines:
        lines.write('{"resourceType": "DocumentReference", "id": "n2", "content": [{"attachment": {"data": "%%"}}]}\n')
    gold, refused = read(site(format="fhir", slots="none"))
    assert isinstance(gold, Gold)
    assert isinstance(refused, Rejection)
    assert (refused.file, refused.row, refused.reason) == ("notes[0]", 2, Reason.BROKEN_ATTACHMENT)
    settings = site(format="fhir", slots="none")
    assert sum(overview(corpus_of("letters", settings), settings).notes.values()) == 1


def test_the_language_of_a_set_is_its_schemes_unless_said(site: Callable[..., Settings], tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    row = {"text": TEXT, "spans": [[0, 7, "NOMBRE_SUJETO_ASISTENCIA"]]}
    lines = [{**row, "note_id": "n1"}, {**row, "note_id": "n2", "lang": "fr"}]
    (folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def languages(**keys: str) -> list[str]:
        return [it.note.language for it in read(site(scheme="meddocan", **keys)) if isinstance(it, Gold) and it.note]

    assert languages() == ["es", "fr"]
    assert languages(language="it") == ["it", "fr"]
    assert languages(slots="none") == ["es", "fr"]


def test_placeholders_are_filled_where_they_are_the_gold(site: Callable[..., Settings], tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    text = "Mr. [**Known lastname 1**] is well."
    (folder / "NOTEEVENTS.csv").write_text(f"{MIMIC3}n1,p1,1,,,,Nursing,R,1,,{text}\n")
    for slots, count in (("gold", 1), ("none", 0)):
        settings = site(format="mimic3", slots=slots)
        found = carriers(corpus_of("letters", settings), settings, part_of("n1"), refused=lambda _: None)
        assert [len(carrier.slots) for carrier in found] == [count]


@pytest.mark.parametrize(("path", "parts"), [("train", (Part.TRAINING, Part.TEST)), ("test", (Part.TEST,))])
def test_a_set_may_have_the_split_of_its_publisher(
    path: str, parts: tuple[Part, ...], site: Callable[..., Settings], tmp_path: Path
) -> None:
    for name in ("train", "test"):
        (tmp_path / name).mkdir()
        notes = [Gold(f"{name}{n}", NOTE.spans, note=Note(f"{name}{n}", TEXT)) for n in range(3)]
        gold_format("brat").write(notes, tmp_path / name)
    settings = site(path=path, test="test", format="brat")
    corpus = corpus_of("letters", settings)
    assert corpus.parts == parts
    for part in parts:
        found = [gold.note_id for gold in read_corpus(corpus, settings, part, refused=pytest.fail)]
        assert found == [f"{'test' if part is Part.TEST else 'train'}{n}" for n in range(3)]
    assert {part: n for part, n in overview(corpus, settings).notes.items() if n} == dict.fromkeys(parts, 3)


@pytest.mark.parametrize(("form", "scheme"), [("mimic3", "mimic-iii"), ("conll", "conll-2003"), ("brat", "i2b2-2014")])
def test_the_labels_of_a_set_are_those_of_its_format_unless_it_says_others(
    form: str, scheme: str, site: Callable[..., Settings]
) -> None:
    assert corpus_of("letters", site(format=form)).scheme == scheme
    assert corpus_of("letters", site(format=form, scheme="meddocan")).scheme == "meddocan"


@pytest.mark.parametrize(
    ("name", "folder", "form"), [("i2b2", "i2b2/test", "i2b2"), ("conll", "conll/eng.testb", "conll")]
)
def test_a_corpus_under_a_licence_lies_in_the_folder_of_the_corpora_as_it_is_published(
    name: str, folder: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEID_CORPORA", str(tmp_path))
    corpus = corpus_of(name, None)
    assert not is_carrier(corpus, None)
    (tmp_path / folder).parent.mkdir(exist_ok=True)
    if form == "i2b2":
        tag = '<NAME start="0" end="7" TYPE="PATIENT"/>'
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "110-01.xml").write_text(f"<x><TEXT>Ann Poe came.</TEXT><TAGS>{tag}</TAGS></x>")
    else:
        (tmp_path / folder).write_text(
            "-DOCSTART- -X- O O\n\nAnn NNP I-NP I-PER\nPoe NNP I-NP I-PER\ncame VBD I-VP O\n"
        )
    (gold,) = read_corpus(corpus, None, Part.TEST, refused=pytest.fail)
    assert [(it.start, it.end, it.label) for it in gold.spans] == [(0, 7, Label.PATIENT)]
    assert has_gold_as_written(corpus, None)
