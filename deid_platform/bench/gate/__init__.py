"""What the gate judges by: the test set, its gold, and the scores of the very detector that redacts.

    eligible        what the sampler needs to know of each note of the store
    annotated       notes of whose gold people were asked
    library_gold    the library as gold
    gold_texts      for which text gold was made
    gold_topics     topics of gold notes
    held_out        sealing what a detector is measured on, and counting each look at it
    measured_notes  test set and gold together
    consistency     whether all that is sealed belongs together
    scoring         the scores

Does not belong here: what the dossier shows beside (`bench/lab`), or a comparison of detectors (`bench/leaderboard`).
"""
