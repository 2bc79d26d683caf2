"""The document model: sections of sentences, tables and figures, before they are rendered. It knows no topic."""
