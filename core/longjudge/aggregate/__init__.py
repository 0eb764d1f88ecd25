"""Many judgments in sums: what became of the sessions, what it cost, what is found over and over.

Pure. Judgments are added one by one, and none of them stays in memory.
"""
