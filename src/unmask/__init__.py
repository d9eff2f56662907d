"""unmask: attack your data release before someone else does.

The flow in five lines::

    release = unmask.Release("original.csv", "release.csv", id="patient", confidential=["diagnosis"])   # READ
    linkage = unmask.link_nearest(release)                                                              # LINK
    risk = unmask.group_risk(release.released, quasi=["sex", "town"])                                   # COUNT
    assessment = unmask.assess(release)                                                                 # JUDGE
    assessment.write_html("report.html")                                                                # TELL
"""

from unmask.doors import open_door

__version__ = "0.2.0"
__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
