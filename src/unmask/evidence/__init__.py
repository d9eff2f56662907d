"""JUDGE: what was measured, how sure that is, what the policy allows, and what follows."""
