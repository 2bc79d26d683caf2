"""What a report is made of, before it is put into words: sections of sentences, tables and figures. No topic."""
