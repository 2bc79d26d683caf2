"""Parts that several sections of a report share: tables, columns and sentences."""
