from unmask.datasets import gauntlet as gauntlet
from unmask.datasets.census import census as census
from unmask.datasets.patients import patients as patients
