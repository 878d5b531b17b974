"""An attacker who reads: a chat model that is given released notes and what is known of people from elsewhere.

    profiles   what an attacker holds of people
    questions  what an attacker is asked; prompts as data in `prompts/`
    attack     how often an attacker is right

Belongs here: what an attacker is told and asked, and what comes of it. Does not belong here: which notes are attacked
(`bench/lab/attacker.py`), or the attack by counting that stands beside it (`evaluation/disclosure/linkage.py`).

Two of the questions are those of papers: whose a note is (arXiv 2410.17035), and what stood in a masked place (arXiv
2505.12859). Neither's way is taken: here every question has numbered choices of which one is true, so that a guess has
a known chance. An answer is read as the number of a choice and is kept nowhere.
"""
