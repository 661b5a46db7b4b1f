"""Maps and alignments from measurements of robots and cameras."""
