"""LINK: each file plays one intruder who tries to find people in a release."""
