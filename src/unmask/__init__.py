"""unmask: attack your data release before someone else does."""
