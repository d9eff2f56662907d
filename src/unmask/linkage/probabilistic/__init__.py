"""Probabilistic linkage after Fellegi and Sunter."""
