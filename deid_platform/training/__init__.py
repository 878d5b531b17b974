"""Training of models: notes with gold in, a folder that the detector loads out.

Belongs here: what a model is trained on, fine-tuning, thresholds, export. Does not belong here: running a model
(`detection/models`). Examples, mixture, plan and presets work without torch.
"""
