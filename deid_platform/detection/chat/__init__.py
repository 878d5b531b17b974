"""A chat model as a member of the detector: it reads after all others, and may only add.

    spec      the picklable description of the chat model
    review    which documents it is asked about
    asking    asks about a batch, nothing twice
    stage     adds what it finds
    indirect  tags indirect identifiers of the notes of a refresh

Belongs here: the stage, its picklable description, and which documents go to the model. Does not belong here: prompts,
asking, or what an answer means (`deid_platform/llm`).

A document on which the model refuses, is cut off, answers in a wrong form, strays, is too slow or names what is not
there fails its note: what it would have found is not known.
"""
