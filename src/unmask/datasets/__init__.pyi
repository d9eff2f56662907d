from unmask.datasets import gauntlet as gauntlet
from unmask.datasets.census import census as census
from unmask.datasets.friends import friends as friends
from unmask.datasets.patients import patients as patients
from unmask.datasets.trajectories import trajectories as trajectories
from unmask.datasets.visits import visits as visits
