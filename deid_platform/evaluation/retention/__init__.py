"""What is left of the medicine in a released note.

    alignment                     tokens of the original beside those of the released text, in chunks
    judges                        what a judge of chunks is, and adapters for models
    lexical_judge                 the judge that needs no model
    lexical_text, lexical_shapes  for that judge: the words of a chunk, and what is a date or a number by its shape
    lexical_context               for that judge: what a word is by its neighbours
    chat_judge                    the judge that is a chat model, and several by majority
    retention                     shares of chunks without a clinical change, by note and over notes
    pairs, own_pairs              chunk pairs labelled by hand: those shipped, and a site's own
    judge_validation              how good a judge is on them
    experiments                   chunks against sentences, one alignment against another
    icd                           diagnosis codes before and after
    sequence_models               classifiers of the library `transformers` for codes and pairs

After Aghakasiri 2025 ("Not What the Doctor Ordered", arXiv 2509.14464). Its CIRE is retention by a chat model
that says yes or no; retention by any other judge has another name (`judges.Kind`).

Belongs here: measurements on an original text and a released one. Does not belong here: which identifiers were found
(`evaluation/scores/scores.py`), or running a chat model.
"""
