"""An attacker who reads: a chat model that is given released notes and what is known of people from elsewhere.

Belongs here: what it is asked (`questions.py`, prompts as data in `prompts/`), what it is told of people
(`profiles.py`), and how often it is right (`attack.py`). Does not belong here: which notes are attacked
(`bench/lab/attacker.py`), or the attack by counting that stands beside it (`evaluation/disclosure/linkage.py`).

Two of the questions are those of papers: whose a note is (arXiv 2410.17035), and what stood in a masked place (arXiv
2505.12859). Neither's way is taken: here every question has numbered choices of which one is true, so that a guess has
a known chance. An answer is read as the number of a choice and is kept nowhere.
"""
