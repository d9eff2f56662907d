"""The product graph of two files with distances, and its maximum cliques."""
