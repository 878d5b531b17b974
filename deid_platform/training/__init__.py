"""Training of models: notes with gold in, a folder that the detector loads out.

    plan, presets                                 what a training is of, and how it is done
    labelled, mixture, negatives                  notes with identifiers, of many sources, and parts without any
    shared_words                                  words that the notes of several institutions share
    examples                                      windows with the label of each piece
    starting, parted_encoder, transformers_start  what a training starts from
    fine_tuning, calibration, export              weights, thresholds, and the folder that the detector loads
    run                                           one training, from notes to folder
    uncertainty, adapting                         which notes teach most; a model made a site's own
    experiments                                   what a model learns, of which notes

Belongs here: what a model is trained on, fine-tuning, thresholds, export. Does not belong here: running a model
(`detection/models`). Examples, mixture, plan and presets work without torch.
"""
