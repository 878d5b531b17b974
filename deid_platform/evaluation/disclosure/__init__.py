"""What a reader of released notes could learn of patients.

    adversary             how many notes and patients still show a direct identifier
    residue               ALID, LR, LRDI and LRQI of Pissarra 2024
    linkage               an attacker who holds the topics; `attacker` one who reads
    plain_sight           whether surrogates hide what was missed; `shown_mentions`, `plain_sight_simulation`
    shift_secrecy         how many date shifts remain possible

Does not belong here: how well identifiers are found (`evaluation/scores`).
"""
