"""From candidates to spans: propagated mentions, recovered clinical terms, relatives, and merged overlaps.

    propagate/             further mentions of what a note named once
    asked                  what a language model found, under the labels that others gave
    days/                  days, by how the note writes the others
    ends                   where an identifier ends
    doubt, local_words     words taken back: every model reads them otherwise; they are the institution's vocabulary
    word_counts            in how many patients' notes a word stands
    recovery/              clinical terms taken back
    judgement              judges of proposed removals: `vocabulary_judge` by words, `chat_judge` by a chat model
    clinicians, relatives  whose a name is: clinicians found as patients, relatives found as clinicians
    cross_note             mentions of a patient's other notes
    merge                  overlapping candidates become one

Belongs here: stages over candidates, which stand here in their order. Does not belong here: finding candidates
(`detection/rules`, `detection/topics`, `detection/models`).
"""
