"""The words of the product as frozen data: sessions, exchanges, file changes, hits. No input or output happens here."""
