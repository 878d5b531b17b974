"""Files of clinical terms: each published format by a tiny invented file of its shape."""

from __future__ import annotations

import gzip
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.errors import Code, DeidError
from deid_platform.lexicon.lists import written_terms
from deid_platform.lexicon.vocabularies import FORMATS, TermsFile, formats, terms_of
from deid_platform.lexicon.vocabularies.icd10cm import code_rows, names_in, titles
from deid_platform.notes import Note

FSN, SYNONYM = "900000000000003001", "900000000000013009"


def rrf(*rows: list[str]) -> str:
    return "".join("|".join(row) + "|\n" for row in rows)


def rxnorm(term: str, *, tty: str = "BN", lat: str = "ENG", sab: str = "RXNORM", suppress: str = "N") -> list[str]:
    return ["1", lat, "P", "", "PF", "", "Y", "1", "", "1", "", sab, tty, "1", term, "", suppress, ""]


def umls(cui: str, term: str, *, lat: str = "ENG", suppress: str = "N") -> list[str]:
    return [cui, lat, "P", "L1", "PF", "S1", "Y", "A1", "", "", "", "MSH", "MH", "D1", term, "0", suppress, ""]


def snomed(*rows: tuple[str, str, str, str, str]) -> str:
    columns = ["id", "effectiveTime", "active", "moduleId", "conceptId"]
    columns += ["languageCode", "typeId", "term", "caseSignificanceId"]
    lines = [columns, *(["1", "20260101", a, "m", c, lang, kind, term, "x"] for a, c, lang, kind, term in rows)]
    return "".join("\t".join(line) + "\n" for line in lines)


RXNORM = rrf(
    rxnorm("Quarmbex"),
    rxnorm("quarmbinol hydrochloride", tty="IN"),
    rxnorm("Quarmbex 20 MG Oral Tablet", tty="SBD"),
    rxnorm("Quarmbesa", lat="SPA"),
    rxnorm("Foreignex", sab="MMSL"),
    rxnorm("Oldex", suppress="O"),
    rxnorm("Max"),
    rxnorm("daily pill"),
)
UMLS = rrf(
    umls("C0000001", "Quarmby's syndrome"),
    umls("C0000001", "Síndrome de Quarmby", lat="SPA"),
    umls("C0000002", "Quarmbyshire"),
    umls("C0000003", "Quarmby sling"),
    umls("C0000003", "Obsolete sling", suppress="O"),
    umls("C0000004", "Quarmby unclassified"),
)
TYPES = rrf(
    ["C0000001", "T047", "B2", "Disease or Syndrome", "AT1", ""],
    ["C0000002", "T083", "A2", "Geographic Area", "AT2", ""],
    ["C0000003", "T033", "A2", "Finding", "AT3", ""],
    ["C0000003", "T074", "A1", "Medical Device", "AT4", ""],
)
SNOMED = snomed(
    ("1", "101", "en", SYNONYM, "Quarmby palsy"),
    ("1", "101", "en", FSN, "Quarmby nerve palsy (disorder)"),
    ("1", "101", "es", SYNONYM, "parálisis de Quarmby"),
    ("0", "101", "en", SYNONYM, "Retired palsy name"),
    ("1", "102", "en", FSN, "Quarmby valley (geographic location)"),
    ("1", "102", "en", SYNONYM, "Quarmby valley"),
    ("1", "103", "en", FSN, "Quarmby follower (person)"),
)
NCI = "".join(
    "\t".join(row) + "\n"
    for row in [
        ["C1", "<x>", "C9", "Quarmby Tumor|Tumor of Quarmby", "A tumor.", "Quarmby Neoplasm", "", "Neoplastic Process"],
        ["C2", "<x>", "C9", "Quarmby County", "A place.", "", "", "Geographic Area"],
        ["C3", "<x>", "C9", "Quarmby Oldoma", "", "", "Retired_Concept", "Neoplastic Process"],
    ]
)
PRODUCTS = [
    {"brand_name": "Quarmbex XR", "generic_name": "quarmbinol", "active_ingredients": [{"name": "QUARMBINOL HCL"}]},
    {"brand_name": "Tablet {[,", "generic_name": None, "note": 'a "]" in a string'},
]
OPENFDA = json.dumps({"meta": {"results": {"total": 2}}, "results": PRODUCTS}, indent=1)

# format: name of the file, its content, the terms
FILES = {
    "rxnorm": ("RXNCONSO.RRF", RXNORM, {"quarmbex", "quarmbinol hydrochloride"}),
    "umls": ("MRCONSO.RRF", UMLS, {"quarmby's syndrome", "quarmby sling"}),
    "snomed": ("sct2_Description_Snapshot-en_XX_20260101.txt", SNOMED, {"quarmby palsy", "quarmby nerve palsy"}),
    "nci": ("Thesaurus.txt", NCI, {"quarmby neoplasm", "quarmby tumor", "tumor of quarmby"}),
    "openfda": ("drug-ndc-0001-of-0001.json", OPENFDA, {"quarmbex xr", "quarmbinol", "quarmbinol hcl"}),
}

Write = Callable[..., TermsFile]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a vocabulary's file, plain or packed, with what belongs beside it."""

    def _write(kind: str, content: str, packed: str = "", name: str = "") -> TermsFile:
        contents = {name or FILES[kind][0]: content} | ({"MRSTY.RRF": TYPES} if kind == "umls" else {})
        if packed == ".zip":
            with ZipFile(tmp_path / "release.zip", "w") as archive:
                for inner, text in contents.items():
                    archive.writestr(f"release/{inner}", text)
                archive.writestr("release/README.txt", "read me")
            return TermsFile(str(tmp_path / "release.zip"), kind)
        for inner, text in contents.items():
            raw = text.encode()
            (tmp_path / (inner + packed)).write_bytes(gzip.compress(raw) if packed else raw)
        return TermsFile(str(tmp_path / (next(iter(contents)) + packed)), kind)

    return _write


def test_every_format_has_a_sample_here() -> None:
    assert set(FILES) == set(FORMATS)


@pytest.mark.parametrize("packed", ["", ".gz", ".zip"])
@pytest.mark.parametrize("kind", FILES)
def test_a_vocabulary_gives_its_clinical_english_terms(kind: str, packed: str, write: Write) -> None:
    terms = terms_of(write(kind, FILES[kind][1], packed))
    assert set(terms) >= FILES[kind][2]
    assert len(terms) == len(set(terms))
    wrong = ("shire", "valley", "follower", "county", "old", "retired", "obsolete", "esa", "foreign", "mg oral", "max")
    assert [term for term in terms if any(part in term for part in wrong)] == []


def test_terms_that_recovery_cannot_need_are_left_out(write: Write) -> None:
    needless = ["acute chest pain", "Quar", "Quarmby " * 7, "12 345", "q" * 90]
    file = write("rxnorm", rrf(*map(rxnorm, [*needless, "Quarmbex"])))
    assert terms_of(file) == ("quarmbex",)


# What is wrong with a file, and its format.
BROKEN = {
    "a column too few": ("rxnorm", RXNORM.replace("|RXNORM|", "|", 1)),
    "no end of line bar": ("umls", UMLS.replace("|\n", "\n", 1)),
    "not in the order of its concepts": ("umls", UMLS + rrf(umls("C0000001", "late"))),
    "another header": ("snomed", SNOMED.replace("conceptId", "referencedComponentId")),
    "a concept that is no number": ("snomed", SNOMED.replace("\t101\t", "\tx\t", 1)),
    "no code": ("nci", NCI.replace("C1\t", "\t", 1)),
    "cut off": ("openfda", OPENFDA[:-80]),
    "no results": ("openfda", json.dumps({"meta": {}})),
    "results that are no objects": ("openfda", json.dumps({"results": ["x"]})),
    "nothing clinical": ("rxnorm", rrf(rxnorm("Quarmbex", lat="SPA"))),
    "empty": ("snomed", ""),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_file_that_is_not_of_its_format_is_refused_by_name_without_its_content(fault: str, write: Write) -> None:
    kind, content = BROKEN[fault]
    with pytest.raises(DeidError) as refused:
        terms_of(write(kind, content))
    assert refused.value.code is Code.DICTIONARY_INVALID
    assert refused.value.ref == f"dictionaries.medical_terms: {FILES[kind][0]} as {kind}"
    assert "quarmb" not in str(refused.value).lower()


def test_umls_needs_its_semantic_types_beside_it(write: Write, tmp_path: Path) -> None:
    file = write("umls", UMLS)
    (tmp_path / "MRSTY.RRF").unlink()
    with pytest.raises(DeidError) as refused:
        terms_of(file)
    assert refused.value.code is Code.SETTINGS_INVALID


def test_a_packed_file_that_is_damaged_is_refused(write: Write) -> None:
    for packed in (".gz", ".zip"):
        file = write("rxnorm", RXNORM, packed)
        Path(file.path).write_bytes(Path(file.path).read_bytes()[:-40])
        with pytest.raises(DeidError) as refused:
            terms_of(file)
        assert refused.value.code is Code.DICTIONARY_INVALID


def test_a_large_file_is_read_a_piece_at_a_time(tmp_path: Path) -> None:
    class Counted:
        """A stream that never ends by itself and says how much of it was read."""

        read_chars = 0

        def read(self, size: int) -> str:
            self.read_chars += size
            record = '{"brand_name": "Quarmbex"},' * (size // 27 + 1)
            return ('{"results": [' if self.read_chars == size else "") + record

    stream = Counted()
    names = FORMATS["openfda"].terms(stream)
    assert [next(names) for _ in range(5)] == ["Quarmbex"] * 5
    assert stream.read_chars <= 1 << 17


def test_a_vocabulary_gives_words_back_and_changes_the_detectors_digest(write: Write) -> None:
    text = "Seen by Dr. Vance. Named Quarmby palsy on the left."
    plain = DetectorSpec("rules")
    own = DetectorSpec("rules", medical_terms=(write("snomed", SNOMED),))
    hidden = [text[s.start : s.end] for s in plain.build().detect([Note("n", text)])[0]]
    kept = [text[s.start : s.end] for s in pickle.loads(pickle.dumps(own)).build().detect([Note("n", text)])[0]]
    assert "Vance" in kept
    assert any("Quarmby" in surface for surface in hidden)
    assert not any("Quarmby" in surface for surface in kept)
    digests = {plain.detector_digest, own.detector_digest}
    renamed = DetectorSpec(
        "rules", medical_terms=(write("snomed", SNOMED.replace("Quarmby palsy", "Quarmby paresis")),)
    )
    assert len(digests | {renamed.detector_digest}) == 3, "the file's content counts, and it is read anew"


def test_the_semantic_types_that_count_name_no_people_places_or_organisations() -> None:
    names = formats.semantic_types().values()
    assert {"Disease or Syndrome", "Medical Device", "Clinical Drug"} <= set(names)
    assert not [n for n in names if any(w in n for w in ("Geographic", "Group", "Organization", "Occupation", "Human"))]
    assert not {"person", "occupation", "geographic location", "religion/philosophy"} & formats.SNOMED_TAGS


def test_names_are_told_from_words_by_how_titles_write_them() -> None:
    written = [
        "Crohn's disease of small intestine",
        "Arthropathy in Crohn's disease",
        "Cholera, unspecified",
        "Classical cholera",
        "Creutzfeldt-Jakob disease",
        "Bitten by duck",
    ]
    assert names_in(written) == ["creutzfeldt-jakob disease", "crohn's disease"]


@pytest.mark.process
def test_the_icd_package_is_not_loaded_to_detect() -> None:
    program = (
        "import sys; from deid_platform.detection import DetectorSpec; from deid_platform.notes import Note; "
        "DetectorSpec('rules').build().detect([Note('n', 'Seen by Dr. Vance on 1/2/2020.')]); "
        "sys.exit('simple_icd_10_cm' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.slow
def test_the_shipped_icd_terms_are_those_of_the_package() -> None:
    assert list(written_terms("icd10cm")) == names_in(titles())


@pytest.mark.slow
def test_the_shipped_icd_codes_are_those_of_the_package() -> None:
    shipped = (files("deid_platform.lexicon") / "data" / "icd10cm_codes.tsv").read_text("utf-8").splitlines()
    assert [row for row in shipped if not row.startswith("#")] == list(code_rows())


@pytest.mark.slow
def test_no_code_without_its_dot_is_hidden_before_its_title() -> None:
    import simple_icd_10_cm as icd

    rows = [row.split("\t") for row in code_rows()]
    notes = [
        Note(f"{category}{end}", f"{category}{end} {icd.get_description(f'{category}.{end}')}")
        for category, ends, _ in rows
        for end in [end for end in ends.split() if re.fullmatch(r"\d{2,4}", end) and category[1:].isdigit()][:1]
    ]
    found = DetectorSpec("rules").build().detect(notes)
    assert [note.note_id for note, spans in zip(notes, found, strict=True) if spans and spans[0].start < 7] == []
