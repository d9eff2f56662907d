"""Channel: the intruder who learns how the release was made.

For every released column they find out, from people whose record they know, which original columns it comes from and
how (``propose``, ``select``), how far it strays from that (``residuals``), and what that says about who a record was
made from (``factors``). ``link_channel`` learns from some people and attacks the others; ``ChannelLinkage`` is what was
found.
"""

from unmask.linkage.channel.across import scores_across
from unmask.linkage.channel.attack import link_channel
from unmask.linkage.channel.gather import target_columns
from unmask.linkage.channel.result import ChannelLinkage
from unmask.linkage.channel.several import Laid, link_several

__all__ = ["ChannelLinkage", "Laid", "link_channel", "link_several", "scores_across", "target_columns"]
