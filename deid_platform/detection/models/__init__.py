"""Models as detectors: a fine-tuned token classifier that is shipped, and those that a site has.

    folder                             a model on disk: network, vocabulary, card
    tokens, windows                    what a model reads of a document: pieces of words, windows of a text
    tags, decoding                     from classes and probabilities to candidates
    token_classifier                   a token classifier as a detector
    onnx_network, torch_network, bert  networks that onnxruntime runs, those that torch runs, and the one that is ours
    device, network_server             processor or card; one process that runs the networks of all workers
    loading                            models of a run: loaded, handed out, freed

Belongs here: one module a kind of model, whose class takes a batch of documents and returns candidates (`Detector`);
an entry of `registry.MODELS` builds it. Does not belong here: training, prompts, or what becomes of candidates
(`resolve/`).

What a model promises, and `check_model` in `tests/detector_contract.py` asserts of each:

- its candidates are `PREDICTED`, from a source of kind `MODEL`, with a probability as confidence, inside the document;
- what it finds in a document does not depend on the others of the batch, nor on their order;
- it is built anew in each worker from what can be pickled, and its digest names all that decides what it finds;
- it raises `detector-failed` where it cannot read a document to its end, and never quotes one.
"""
