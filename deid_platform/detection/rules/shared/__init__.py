"""What notes of all languages write alike: numbers of rooms and beds, user names; words for them in five languages."""
