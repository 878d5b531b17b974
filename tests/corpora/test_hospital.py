"""The synthetic hospital: what arrives, what is planted in it, and that both are true to each other."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from hashlib import sha256

import pytest
from stdnum import luhn

from deid_platform.corpora.hospital import (
    HELD_OUT_STYLES,
    HELD_OUT_TYPES,
    NOTE_TYPES,
    HospitalDelivery,
    HospitalSpec,
    Part,
    Shape,
    Style,
    generate,
    library,
)
from deid_platform.corpora.hospital.selection import is_held_out_way
from deid_platform.errors import DeidError
from deid_platform.labels import Label
from deid_platform.notes import Span, Topics
from deid_platform.surrogates.pools import Share, share_of

SPEC = HospitalSpec(seed=7, notes=600)

FIRST_TEXT = "3ab27b3560db07e4"
HELD_OUT = "cb920625063d6aa9"

PLANTED_LABELS = {
    Label.PATIENT, Label.DOCTOR, Label.USERNAME, Label.HOSPITAL, Label.ORGANIZATION, Label.STREET, Label.CITY,
    Label.STATE, Label.ZIP, Label.LOCATION_OTHER, Label.AGE, Label.DATE, Label.PHONE, Label.FAX, Label.EMAIL,
    Label.URL, Label.IPADDR, Label.SSN, Label.MEDICALRECORD, Label.HEALTHPLAN, Label.ACCOUNT, Label.LICENSE,
    Label.VEHICLE, Label.DEVICE, Label.IDNUM, Label.BIOID, Label.COUNTRY,
}  # fmt: skip


@pytest.fixture(scope="module")
def deliveries() -> list[HospitalDelivery]:
    return list(generate(SPEC))


@pytest.fixture(scope="module")
def parts() -> dict[Part, list[HospitalDelivery]]:
    return {part: list(generate(HospitalSpec(seed=5, notes=300, part=part))) for part in Part}


def texts(delivery: HospitalDelivery) -> dict[str, str]:
    return {note.note_id: note.text for note in delivery.notes}


def surfaces(deliveries: list[HospitalDelivery], label: Label) -> list[str]:
    return [
        note.text[span.start : span.end]
        for delivery in deliveries
        for note in delivery.notes
        for span in delivery.gold[note.note_id]
        if span.label is label
    ]


def shaped(deliveries: list[HospitalDelivery], shape: Shape) -> list[str]:
    return [
        note.text[span.start : span.end]
        for delivery in deliveries
        for note in delivery.notes
        for span, of in zip(delivery.gold[note.note_id], delivery.shapes[note.note_id], strict=True)
        if of is shape
    ]


class TestDeterminism:
    def test_the_same_seed_tells_the_same_story(self, deliveries: list[HospitalDelivery]) -> None:
        again = list(generate(SPEC))
        assert again == deliveries

    def test_another_seed_tells_another(self, deliveries: list[HospitalDelivery]) -> None:
        other = next(generate(HospitalSpec(seed=8, notes=600)))
        assert texts(other) != texts(deliveries[0])

    def test_the_story_is_pinned(self) -> None:
        # The same in every process, on every machine and version of Python. Prose may change: then so does this.
        first = next(generate(HospitalSpec(seed=1, notes=40))).notes[0]
        assert sha256(first.text.encode()).hexdigest()[:16] == FIRST_TEXT

    def test_what_is_held_out_is_pinned(self) -> None:
        # What nobody develops on stays as it is when more is shown: else its figures could not be compared.
        held = generate(HospitalSpec(seed=7, notes=600, part=Part.HELD_OUT))
        written = [(n.note_id, n.text, d.gold[n.note_id], d.clinical[n.note_id]) for d in held for n in d.notes]
        told = [
            (ident, text, [(s.start, s.end, s.label.value) for s in gold], terms)
            for ident, text, gold, terms in written
        ]
        assert sha256(repr(told).encode()).hexdigest()[:16] == HELD_OUT


class TestSpec:
    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            ({"deliveries": 0}, "deliveries"),
            ({"notes": 19}, "notes"),
            ({"notes": 40, "patients": 7}, "patients"),
            ({"notes": 40, "patients": 41}, "patients"),
        ],
    )
    def test_numbers_too_small_are_refused_by_name(self, wrong: dict[str, int], field: str) -> None:
        with pytest.raises(DeidError, match=rf"\[{field}\]"):
            HospitalSpec(**wrong)

    @pytest.mark.parametrize(
        ("notes", "patients", "count"), [(20, None, 2), (40, 8, 2), (100, 100, 2), (120, None, 4), (10, None, 1)]
    )
    def test_small_hospitals_stand_as_well(self, notes: int, patients: int | None, count: int) -> None:
        found = list(generate(HospitalSpec(seed=3, notes=notes, patients=patients, deliveries=count)))
        assert len(found) == count
        assert len({note.note_id for delivery in found for note in delivery.notes}) == notes

    def test_watermarks_are_a_week_apart(self) -> None:
        found = generate(HospitalSpec(notes=60, deliveries=3, start=date(2027, 3, 1)))
        assert [d.watermark for d in found] == ["2027-03-01", "2027-03-08", "2027-03-15"]

    def test_no_repr_shows_a_value(self, deliveries: list[HospitalDelivery]) -> None:
        assert repr(deliveries[0]) == "<HospitalDelivery 2026-01-05>"


class TestGold:
    def test_spans_lie_in_order_inside_their_text_and_never_overlap(self, deliveries: list[HospitalDelivery]) -> None:
        for delivery in deliveries:
            for note in delivery.notes:
                end = 0
                for span in delivery.gold[note.note_id]:
                    assert end <= span.start < span.end <= len(note.text)
                    end = span.end

    def test_a_span_has_neither_spaces_nor_brackets_at_its_ends(self, deliveries: list[HospitalDelivery]) -> None:
        for label in PLANTED_LABELS:
            for surface in surfaces(deliveries, label):
                assert surface == surface.strip(" \n,;:.")

    def test_what_is_planted_is_what_the_topics_say(self, deliveries: list[HospitalDelivery]) -> None:
        topics = Topics()
        found: Counter[str] = Counter()
        for delivery in deliveries:
            topics = topics.folded(delivery.topics)
            for note in delivery.notes:
                patient = topics.patients[note.patient_id or ""]
                spans = delivery.gold[note.note_id]

                def planted(label: Label, text: str = note.text, spans: tuple[Span, ...] = spans) -> list[str]:
                    return [text[s.start : s.end] for s in spans if s.label is label]

                for surface in planted(Label.MEDICALRECORD):
                    assert re.sub(r"\D", "", surface).lstrip("0") in (patient.mrn or "")
                for surface in planted(Label.SSN):
                    assert (patient.ssn or "").replace("-", "").endswith(re.sub(r"\D", "", surface))
                names = " ".join(planted(Label.PATIENT)).lower()
                found["named"] += (patient.last_name or "?").lower() in names
                found["notes"] += 1
                assert planted(Label.PATIENT), "every note names its patient"
        # A few call a child by the first name alone, or an older note bears the name before a marriage.
        assert found["named"] > 0.95 * found["notes"]

    def test_providers_and_patients_of_notes_are_known_to_the_topics(self, deliveries: list[HospitalDelivery]) -> None:
        topics = Topics()
        for delivery in deliveries:
            topics = topics.folded(delivery.topics)
            assert {note.patient_id for note in delivery.notes} <= set(topics.patients)
            assert {note.provider_id for note in delivery.notes} <= set(topics.providers)
        assert {f.name for f in topics.facilities.values()} & set(surfaces(deliveries, Label.HOSPITAL))

    def test_every_label_of_the_list_occurs_and_no_other(self, deliveries: list[HospitalDelivery]) -> None:
        found = {span.label for delivery in deliveries for spans in delivery.gold.values() for span in spans}
        assert found == PLANTED_LABELS

    def test_only_ages_over_89_are_gold(self, deliveries: list[HospitalDelivery]) -> None:
        ages = surfaces(deliveries, Label.AGE)
        assert all(age.startswith("ninety") or 90 <= int(age) <= 110 for age in ages)
        assert any(re.search(r"\b[2-8]\d-year-old", note.text) for note in deliveries[0].notes)

    def test_a_year_alone_is_not_a_date(self, deliveries: list[HospitalDelivery]) -> None:
        assert not [d for d in surfaces(deliveries, Label.DATE) if re.fullmatch(r"(19|20)\d\d", d)]

    @pytest.mark.parametrize("title", ["Dr.", "Mr.", "Ms.", "Mrs.", "MD", "RN", "NP", "PA-C", "FNP-BC"])
    def test_names_stand_without_title_or_credential(self, deliveries: list[HospitalDelivery], title: str) -> None:
        for surface in surfaces(deliveries, Label.PATIENT) + surfaces(deliveries, Label.DOCTOR):
            words = surface.replace(",", " ").split()
            # Initials of two letters may spell a credential; nobody's name does.
            assert title not in words or len(words) == 1


class TestClinicalTerms:
    def test_nearly_every_note_has_one(self, deliveries: list[HospitalDelivery]) -> None:
        clinical = [terms for delivery in deliveries for terms in delivery.clinical.values()]
        assert sum(map(bool, clinical)) > 0.95 * len(clinical)

    def test_none_touches_gold(self, deliveries: list[HospitalDelivery]) -> None:
        for delivery in deliveries:
            for note in delivery.notes:
                for start, end in delivery.clinical[note.note_id]:
                    assert 0 <= start < end <= len(note.text)
                    assert not any(s.start < end and start < s.end for s in delivery.gold[note.note_id])

    @pytest.mark.parametrize(
        "term",
        ["Bruce protocol", "Foley catheter", "St. Jude", "Hodgkin lymphoma", "Crohn disease", "FK506", "MyChart",
         "BRCA1 c.68_69delAG", "BASAGLAR KwikPen", "McMurray", "2/6 systolic murmur",
         "Sinemet 25-100", "rs429358", "Hunter canal"],
    )  # fmt: skip
    def test_famous_ones_are_listed_where_they_stand(self, deliveries: list[HospitalDelivery], term: str) -> None:
        listed = {
            note.text[start:end]
            for delivery in deliveries
            for note in delivery.notes
            for start, end in delivery.clinical[note.note_id]
        }
        assert any(term in surface for surface in listed)

    def test_some_patients_share_a_surname_with_an_eponym_of_their_own_note(
        self, deliveries: list[HospitalDelivery]
    ) -> None:
        pairs = 0
        for delivery in deliveries:
            for note in delivery.notes:
                gold = delivery.gold[note.note_id]
                names = {note.text[s.start : s.end].split()[-1] for s in gold if s.label is Label.PATIENT}
                terms = {word for a, b in delivery.clinical[note.note_id] for word in note.text[a:b].split()}
                pairs += bool(names & terms)
        assert pairs >= 5


class TestShapes:
    @pytest.mark.parametrize("shape", list(Shape))
    def test_each_shape_that_detectors_miss_occurs(self, deliveries: list[HospitalDelivery], shape: Shape) -> None:
        assert len(shaped(deliveries, shape)) >= 3

    def test_they_stay_a_minority(self, deliveries: list[HospitalDelivery]) -> None:
        shapes = [shape for delivery in deliveries for of in delivery.shapes.values() for shape in of]
        assert 0.05 <= sum(shape is not None for shape in shapes) / len(shapes) <= 0.15

    @pytest.mark.parametrize(
        ("shape", "form"),
        [
            (Shape.PATIENT_INITIALS, r"(?:[^\W\d_]\.? ?){1,3}"),
            (Shape.RELATIVE_INLINE, r"[^A-Z]+\s[^A-Z]+"),
            (Shape.PROVIDER_INITIALS, r"(?:[^\W\d_]\.? ?){1,2}"),
            (Shape.PROVIDER_CAPS, r"[^a-z]+"),
            (Shape.MONTH_YEAR, r"\d{1,2}/\d\d(\d\d)?"),
            (Shape.STANDALONE_DAY, r"\d{1,2}(st|nd|rd|th)"),
            (Shape.SHORT_PHONE, r"\d{3}-555-\d{3}|555[-. ]\d{4}"),
            (Shape.CLINIC_LOCATION, r"(?i).+\s(Primary\sCare|Internal\sMedicine)-.+"),
            (Shape.CLINIC_ABBREVIATION, r"[A-Z]{4,12}"),
            (Shape.CAPS_ADDRESS, r"\d+\s[^a-z]+"),
            (Shape.AGE_OVER_89, r"9\d|ninety-?\w*"),
        ],
    )
    def test_each_looks_as_it_should(self, deliveries: list[HospitalDelivery], shape: Shape, form: str) -> None:
        for surface in shaped(deliveries, shape):
            assert re.fullmatch(form, surface)

    def test_a_mistyped_date_is_no_date(self, deliveries: list[HospitalDelivery]) -> None:
        for surface in shaped(deliveries, Shape.DATE_TYPO):
            assert not re.fullmatch(r"\d{1,2}/\d{1,2}/(\d{2}|\d{4})", surface)


class TestWays:
    def test_every_identifier_of_a_way_says_which_it_is(self, deliveries: list[HospitalDelivery]) -> None:
        known = {way for ways in library.ways().values() for way in ways}
        for delivery in deliveries:
            for note in delivery.notes:
                ways = delivery.ways[note.note_id]
                assert len(ways) == len(delivery.gold[note.note_id])
                assert {way for way in ways if way} <= known

    def test_600_notes_show_most_of_them(self, deliveries: list[HospitalDelivery]) -> None:
        found = {way for delivery in deliveries for ways in delivery.ways.values() for way in ways if way}
        for family, ways in library.ways().items():
            assert len(found & set(ways)) >= 0.5 * len(ways), family


class TestHeldOut:
    """What is held out to measure on shares neither names, nor layouts, nor ways with what is shown."""

    @staticmethod
    def kinds(deliveries: list[HospitalDelivery]) -> set[tuple[str | None, Style]]:
        return {(note.note_type, d.styles[note.note_id]) for d in deliveries for note in d.notes}

    def test_held_out_notes_are_of_a_held_out_type_or_style(self, parts: dict[Part, list[HospitalDelivery]]) -> None:
        for kind, style in self.kinds(parts[Part.HELD_OUT]):
            assert kind in HELD_OUT_TYPES or style in HELD_OUT_STYLES
        for kind, style in self.kinds(parts[Part.SHOWN]):
            assert kind not in HELD_OUT_TYPES
            assert style not in HELD_OUT_STYLES
        assert not self.kinds(parts[Part.HELD_OUT]) & self.kinds(parts[Part.SHOWN])
        assert {kind for kind, _ in self.kinds(parts[Part.HELD_OUT])} >= HELD_OUT_TYPES
        assert {style for _, style in self.kinds(parts[Part.HELD_OUT])} >= HELD_OUT_STYLES

    @pytest.mark.parametrize("part", list(Part))
    def test_gold_is_exact_in_every_part(self, parts: dict[Part, list[HospitalDelivery]], part: Part) -> None:
        for delivery in parts[part]:
            for note in delivery.notes:
                gold, end = delivery.gold[note.note_id], 0
                assert any(span.label is Label.PATIENT for span in gold)
                for span in gold:
                    assert end <= span.start < span.end <= len(note.text)
                    assert not note.text[span.start - 1 : span.start].isalpha()
                    end = span.end

    def test_no_way_of_writing_is_in_both(self, parts: dict[Part, list[HospitalDelivery]]) -> None:
        shown, held = (
            {way for d in parts[part] for ways in d.ways.values() for way in ways if way}
            for part in (Part.SHOWN, Part.HELD_OUT)
        )
        assert shown
        assert held
        assert not shown & held

    def test_the_split_leaves_a_third_of_the_ways_to_each_at_least(self) -> None:
        for ways in library.ways().values():
            assert 0.34 < sum(map(is_held_out_way, ways)) / len(ways) < 0.66

    @pytest.mark.parametrize(
        ("part", "share"), [(Part.WHOLE, Share.HOSPITAL), (Part.SHOWN, Share.HOSPITAL), (Part.HELD_OUT, Share.HELD_OUT)]
    )
    def test_names_are_of_the_part_s_share(
        self, parts: dict[Part, list[HospitalDelivery]], part: Part, share: Share
    ) -> None:
        topics = parts[part][0].topics
        known = {name for name, _ in library.pairs("first_common_words")}
        firsts = {row.first_name or "" for row in (*topics.patients.values(), *topics.providers.values())}
        assert len(firsts) > 50
        assert {share_of(name) for name in firsts - known} == {share}

    def test_types_styles_and_names_can_be_chosen(self) -> None:
        spec = HospitalSpec(
            notes=40, note_types=("nursing note", "e-mail"), styles=(Style.TERSE,), names=Share.TRAINING
        )
        deliveries = list(generate(spec))
        assert self.kinds(deliveries) <= {("nursing note", Style.TERSE), ("e-mail", Style.TERSE)}
        assert spec.name_share is Share.TRAINING

    def test_what_leaves_nothing_is_refused(self) -> None:
        with pytest.raises(DeidError, match="note_types"):
            HospitalSpec(note_types=("horoscope",))
        with pytest.raises(DeidError, match="styles"):
            list(generate(HospitalSpec(notes=40, part=Part.SHOWN, note_types=("e-mail",))))


class TestTopics:
    def test_most_patients_have_relatives_on_file_and_some_have_none(self, deliveries: list[HospitalDelivery]) -> None:
        rows = list(deliveries[0].topics.patients.values())
        known = [row.relatives.split("; ") for row in rows if row.relatives]
        assert 0.7 < len(known) / len(rows) < 0.97
        assert all(len(name.split()) >= 2 for names in known for name in names)
        assert {len(names) for names in known} == {1, 2}

    def test_newborns_have_their_mother(self, deliveries: list[HospitalDelivery]) -> None:
        patients = deliveries[0].topics.patients
        children = [row for row in patients.values() if row.mother_id]
        assert children
        for child in children:
            mother = patients[child.mother_id or ""]
            assert mother.sex == "F"
            assert (mother.street, mother.last_name) == (child.street, child.last_name)

    def test_providers_have_telephones(self, deliveries: list[HospitalDelivery]) -> None:
        rows = deliveries[0].topics.providers.values()
        assert 0.8 < sum(row.phone is not None for row in rows) / len(rows) < 1


class TestDeliveries:
    def test_the_first_holds_the_bulk(self, deliveries: list[HospitalDelivery]) -> None:
        first, second = deliveries
        assert len(first.notes) > 4 * len(second.notes)
        assert not first.withdrawals

    def test_every_note_type_and_style_in_the_first(self, deliveries: list[HospitalDelivery]) -> None:
        first, second = deliveries
        assert {n.note_type for n in first.notes} == set(NOTE_TYPES)
        assert set(first.styles.values()) == set(Style)
        assert len({n.note_type for n in second.notes}) >= 6

    def test_the_second_corrects_notes_of_the_first(self, deliveries: list[HospitalDelivery]) -> None:
        before, after = map(texts, deliveries)
        changed = before.keys() & after.keys()
        assert changed
        assert all(before[note_id] != after[note_id] for note_id in changed)
        # Some grow by an addendum; in some an identifier is put right and nothing else moves.
        amended = {n for n in changed if after[n].startswith(before[n].rstrip())}
        assert amended
        assert changed - amended
        same_place = {n.note_id: (n.patient_id, n.note_date) for n in deliveries[0].notes}
        for note in deliveries[1].notes:
            if note.note_id in changed:
                assert same_place[note.note_id] == (note.patient_id, note.note_date)

    def test_the_second_holds_new_and_late_notes(self, deliveries: list[HospitalDelivery]) -> None:
        first, second = deliveries
        new = [n for n in second.notes if n.note_id not in texts(first)]
        ages = [(date.fromisoformat(second.watermark) - (n.note_date or date.max)).days for n in new]
        assert any(1 <= days <= 7 for days in ages)
        assert any(days >= 60 for days in ages)

    def test_the_second_withdraws_notes_and_one_patient(self, deliveries: list[HospitalDelivery]) -> None:
        first, second = deliveries
        notes = {w.note_id for w in second.withdrawals if w.note_id}
        patients = [w.patient_id for w in second.withdrawals if w.patient_id]
        assert notes
        assert notes <= texts(first).keys()
        assert len(patients) == 1
        assert patients[0] in {n.patient_id for n in first.notes}
        assert not notes & texts(second).keys()
        assert patients[0] not in {n.patient_id for n in second.notes}

    def test_the_second_brings_newcomers_movers_and_a_marriage(self, deliveries: list[HospitalDelivery]) -> None:
        old, new = deliveries[0].topics.patients, deliveries[1].topics.patients
        both = old.keys() & new.keys()
        assert new.keys() - old.keys()
        assert any(old[p].street != new[p].street for p in both)
        assert any(old[p].last_name != new[p].last_name for p in both)

    def test_families_share_a_name_and_a_newborn_its_mothers_house(self, deliveries: list[HospitalDelivery]) -> None:
        patients = deliveries[0].topics.patients.values()
        latest = date.fromisoformat(deliveries[0].watermark)
        infants = [p for p in patients if p.birth_date and (latest - p.birth_date).days < 500]
        assert infants
        for infant in infants:
            house = [p for p in patients if (p.street, p.last_name) == (infant.street, infant.last_name)]
            assert any(p.sex == "F" and p is not infant and p.email for p in house)

    def test_nothing_is_written_before_birth_or_after_delivery(self, deliveries: list[HospitalDelivery]) -> None:
        topics = Topics()
        for delivery in deliveries:
            topics = topics.folded(delivery.topics)
            for note in delivery.notes:
                born = topics.patients[note.patient_id or ""].birth_date
                assert note.note_date is not None
                assert born is not None
                assert born < note.note_date < date.fromisoformat(delivery.watermark)

    def test_discharge_follows_admission(self, deliveries: list[HospitalDelivery]) -> None:
        stays = 0
        for delivery in deliveries:
            for note in delivery.notes:
                text = note.text.replace("\r", "")
                for match in re.finditer(r"ADMITTED: (\d+)/(\d+)/(\d+)\nDISCHARGED: (\d+)/(\d+)/(\d+)", text):
                    m1, d1, y1, m2, d2, y2 = map(int, match.groups())
                    assert 0 < (date(y2, m2, d2) - date(y1, m1, d1)).days < 30
                    stays += 1
        assert stays > 5


class TestProse:
    @pytest.mark.parametrize(
        ("slip", "pattern"),
        [
            ("left-over notation", r"[{}]|\[\[|\]\]|<[a-z !-]+>|\\n"),
            ("doubled title", r"(Dr\. ){2}|Dr\. [^\n]{0,40}, (MD|DO)\b(?!,? who)|M(r|s|rs)\. (Mr|Ms|Mrs|Dr)\."),
            ("title without a name", r"\b(Mr|Ms|Mrs)\.( [,.;]|\n\W)|\bDr\. [,;]"),
            ("space before punctuation", r"[a-z] [.;:](\s|$)"),
            ("doubled punctuation", r"[,;]{2,}|(?<!db8):[,;:]|\.[;.]|[,;:]\."),
            ("space at the end of a line", r" \n"),
            ("wrong article", r"\ba (8\d?|11|18)-(year|month|day)|\ban ([1-79]|9\d|1[02-79])-(year|month|day)"),
            ("empty bullet", r"\n- ?\n|\n\d\. ?\n\d"),
            ("age of nothing", r"\b0-(day|month|year)-old"),
        ],
    )
    def test_no_slip_of_the_pen(self, deliveries: list[HospitalDelivery], slip: str, pattern: str) -> None:
        for delivery in deliveries:
            for note in delivery.notes:
                assert not re.search(pattern, note.text.replace("\r\n", "\n")), slip

    def test_some_lines_end_as_interfaces_send_them(self, deliveries: list[HospitalDelivery]) -> None:
        returns = sum("\r\n" in note.text for note in deliveries[0].notes)
        assert 0 < returns < 0.1 * len(deliveries[0].notes)

    def test_men_have_no_womens_findings(self, deliveries: list[HospitalDelivery]) -> None:
        topics = deliveries[0].topics.folded(deliveries[1].topics)
        for delivery in deliveries:
            for note in delivery.notes:
                if topics.patients[note.patient_id or ""].sex == "M":
                    assert "anastrozole" not in note.text
                    assert "Postpartum check" not in note.text
                else:
                    assert "prostate" not in note.text.lower()


class TestNumbersThatCannotBeReal:
    def test_telephones_are_reserved_for_fiction(self, deliveries: list[HospitalDelivery]) -> None:
        for surface in surfaces(deliveries, Label.PHONE) + surfaces(deliveries, Label.FAX):
            digits = re.sub(r"\D", "", surface)
            pager, short = len(digits) == 5, len(digits) in (4, 7, 9)
            # In front there may be the country, and behind an extension.
            assert pager or short or re.fullmatch(r"1?\d{3}55501\d\d\d{0,4}", digits)

    def test_social_security_numbers_were_never_issued(self, deliveries: list[HospitalDelivery]) -> None:
        for surface in surfaces(deliveries, Label.SSN):
            # Areas 9xx are not SSNs, and groups below 50 are not ITINs.
            assert re.fullmatch(r"9\d\d[0-4]\d\d{4}|\d{4}", re.sub(r"\D", "", surface))

    def test_npis_pass_their_checksum(self, deliveries: list[HospitalDelivery]) -> None:
        npis = [p.npi for p in deliveries[0].topics.providers.values() if p.npi]
        assert npis
        for npi in npis:
            assert luhn.is_valid("80840" + npi)
            assert npi.startswith("2")

    def test_mail_and_web_lie_under_reserved_names(self, deliveries: list[HospitalDelivery]) -> None:
        for surface in surfaces(deliveries, Label.EMAIL) + surfaces(deliveries, Label.URL):
            assert re.search(r"\bexample\.(com|org|net)\b", surface.lower())

    def test_addresses_of_machines_are_for_documentation(self, deliveries: list[HospitalDelivery]) -> None:
        for surface in surfaces(deliveries, Label.IPADDR):
            assert surface.startswith(("192.0.2.", "198.51.100.", "203.0.113.", "2001:db8::"))
