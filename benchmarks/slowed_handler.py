"""A real service whose handler does 5 % more, against itself: in how many runs is it found? It must be in 80 %.

Usage: python -m benchmarks.slowed_handler FILE [--repeats 20] [--minutes 30] [--runtime 3.14t] [--blocks 12]
           [--duration 1]

The handler counts so far that a request is hardly anything else. The rest is as in benchmarks/aa_runs.py.
"""

from benchmarks.aa_runs import main

MORE = 0.05
CALC_TARGET = 20_000

if __name__ == "__main__":
    main(MORE, CALC_TARGET)
