from unmask.datasets import gauntlet as gauntlet
from unmask.datasets.census import census as census
from unmask.datasets.friends import friends as friends
from unmask.datasets.patients import patients as patients
