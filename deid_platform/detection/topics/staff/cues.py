"""Words before initials of staff, in small letters: for recording, doing, telling and signing.

Belongs here: lists of such words. Does not belong here: what else shows a staff member (`positions.py`).
"""

from __future__ import annotations

WHO_RECORDS = frozenset((
    "technologist", "technician", "sonographer", "transcriptionist", "transcriber", "scribe", "typist", "initials",
))  # fmt: skip
"""Before whose initials stand alone: "Technologist KR"."""
INITIALS_FIELD = frozenset(("init", "inits", "initial", "init.", "int'l", "recorder", "author"))
"""Names of a field, with a colon: "Init: KR"."""
RECORDED = frozenset((
    "verified", "checked", "witnessed", "drawn", "collected", "administered", "charted", "recorded", "documented",
    "entered", "typed", "signed", "initialed", "initialled", "transcribed", "scribed", "dictated", "countersigned",
    "double-checked", "authored",
))  # fmt: skip
"""Before "by", and before initials at the end of a line: only a person records."""
DONE = frozenset((
    "assessed", "reviewed", "read", "given", "placed", "taken", "seen", "done", "performed", "noted", "completed",
    "prepared", "obtained", "received", "cosigned", "co-signed", "ordered", "removed", "started", "changed", "hung",
    "reported", "sent", "applied", "inserted", "notified", "relieved", "covered", "staffed", "examined", "evaluated",
    "interpreted", "called", "requested", "approved", "cleared", "assisted", "accompanied", "escorted", "counted",
    "dispensed", "mixed", "filled", "flushed", "emptied", "titrated", "okayed", "ok'd", "supervised", "attested",
    "note", "tx", "order", "orders", "plan", "consult", "exam", "entry", "addendum", "edited", "created", "written",
    "released", "finalized", "resulted", "accepted", "acknowledged", "ack", "discontinued", "d/c'd", "dc'd",
    "drained", "irrigated", "packed", "dressed", "bathed", "fed", "turned", "repositioned", "medicated", "taught",
    "educated", "counseled", "transported", "admitted", "discharged", "opened", "closed", "faxed", "mailed",
    "scheduled", "paged", "appvd", "ok'ed", "validated", "resumed", "held", "charted", "recorded", "rounded",
    "screened", "triaged", "interviewed", "rechecked",
))  # fmt: skip
"""Likewise, of what persons do or what is theirs: "Note by KR", "dressing changed KR"."""
HELD = frozenset((
    "aide", "anes", "anesthesia", "anesthesiologist", "anesthetist", "approved", "assistant", "asst", "asst.",
    "attending", "author", "by", "call", "charge", "charted", "checked", "circulator", "clinician", "cna", "co-sign",
    "completed", "consultant", "cosign", "cosigned", "cosigner", "covering", "crna", "dict", "dictated", "entered",
    "fellow", "float", "given", "hospitalist", "intern", "lpn", "md", "noted", "nurse", "ordering", "owner", "pcp",
    "perfusionist", "preceptor", "prepared", "primary", "proc", "provider", "reader", "recorder", "referring",
    "resident", "reviewed", "rn", "scribed", "scrub", "sitter", "staff", "surgeon", "team", "tech", "updated",
    "verified", "witness",
))  # fmt: skip
"""Before a colon or a bar, and whoever fills that part: "RN: KR", "Approved: KR"."""
HOLDERS = frozenset((
    "rn", "lpn", "cna", "nurse", "tech", "aide", "author", "recorder", "circulator", "scrub", "resident", "attending",
    "fellow", "intern", "reader", "witness", "cosigner", "surgeon", "assistant", "perfusionist", "sitter",
    "preceptor", "hospitalist", "anesthesiologist", "anesthetist", "asst", "team", "np", "pa", "provider",
    "clinician", "staff",
))  # fmt: skip
"""Those of them that are the same without a colon: "2nd RN KR"."""
SIGNING = frozenset(("signed", "sgd", "e-signed", "esigned", "/s/", "s/", "initialed", "initialled", "signature"))
"""Before a signature."""
ADDRESSING = frozenset((
    "per", "d/w", "dw", "paged", "notified", "called", "asked", "told", "texted", "messaged", "informed", "updated",
    "alerted", "contacted", "cc", "attn", "torb", "vorb", "rbvo", "vo", "v.o.", "t.o.", "relieved", "staffed",
    "cosign",
))  # fmt: skip
"""Whoever is told or asked follows."""
SPOKEN = frozenset((
    "discussed", "spoke", "spoken", "reviewed", "staffed", "seen", "confirmed", "verified", "checked", "agree",
    "agreed", "agrees", "consulted", "rounded", "d/w", "coordinated", "talked", "conferred", "double-checked",
    "signout", "sign-out", "signed-out", "f/u", "followup", "follow-up", "appt", "appointment", "cover", "covering",
    "coverage", "handoff", "hand-off", "handover", "handed", "report", "reported", "message", "page", "called", "rtc",
    "routed", "forwarded", "copied", "reassigned", "endorsed", "transferred", "order", "orders", "text", "note",
    "request", "referral", "referred", "ref", "counted", "call", "calls", "attention", "signoff", "sign-off",
    "acceptance", "consult", "visit", "return",
))  # fmt: skip
"""Before a word of `JOINING`: "reviewed with KR", "sign-out to KR"."""
JOINING = frozenset(("with", "w/", "to", "for", "from", "w"))
HANDING = frozenset(("handoff", "hand-off", "handover", "hand-over", "off", "over", "relieved", "relief", "report"))
"""Of one shift handing over to the next: "Handoff AM to CC"."""
OF_A_FINDING = frozenset((
    "with", "to", "of", "in", "on", "and", "or", "the", "a", "an", "no", "for", "from", "anti", "against", "than", "as",
    "w/", "w/o", "without", "denies", "denied", "is", "was", "be", "has", "had", "h/o", "r/o", "s/p", "hx", "poor",
))  # fmt: skip
"""Before what one has, is tested for or takes, at the end of a line as well."""
