"""Letters on paper: pages of files as text with a box for each word, and pages made of text to measure that on.

Belongs here: opening pages, recognising characters, rendering and degrading pages, and carrying gold over to what was
read. Does not belong here: which file of a delivery is which note (`formats/scan.py`), or noise on text
(`corpora/noise.py`).

    documents        a file as a text: its pages in their order, from a text layer or from character recognition
    opening          what a file's pages are, within limits
    text_layer       the text that a PDF's page carries
    recognition      Tesseract or docTR
    pages            what a page that was read is
    render, degrade  a text as pages of a letter; what copying and scanning do to them
    carry_over       gold of the text that was rendered, on the text that was read

The libraries are those of the extra `scan`, imported when a page is opened; character recognition is a program.
"""
