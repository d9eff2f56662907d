"""NETWORKS: who is found in a network of people that is published under other names, by their ties alone.

`Network` holds an original and a released network. `network_risk` attacks it by signatures, by propagation from a few
known people and by profiles, and `report_network` says it as evidence that a policy judges. `mask_network` makes a
network to publish, `network_utility` says what is left of it.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
