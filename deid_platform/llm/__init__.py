"""Language models that are asked: the interface, models behind an endpoint, prompts, and what answers say of a note.

Belongs here: asking a chat model, keeping its answers, prompts as data, and reading an answer as stretches of the text
that was asked about.

    api, wire                       requests and answers, and how they are sent
    endpoint                        a model behind an endpoint
    vllm_engine                     a model on the site's own card (`weights`, `engines`, `guard`)
    known_models                    models that papers measured, by their names
    answers                         answers that are kept; `budget` bounds what may be asked
    answer_documents                JSON in an answer
    prompts/                        what is asked about a note, as data; `prompted` asks it
    extraction, rewriting, tagging  what answers say of a note (`answered`)
    questions                       what judges are asked
    indirect/                       indirect identifiers

Does not belong here: detectors that make candidates of them (`detection/chat/`), or what a judge's answer is worth.
"""
