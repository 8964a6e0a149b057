"""From PDFs in a folder to an index that can be asked."""
