"""English rules: a table of recognizers a subject, and beside it the validators that its entries name."""
