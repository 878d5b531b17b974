"""English rules: a table of recognizers for each subject, and beside it the validators that its entries name."""
