"""The distance that re-identifies best, learnt."""
