"""COUNT: who stands alone, and in how small a crowd."""
