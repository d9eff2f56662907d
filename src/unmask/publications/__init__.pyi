from unmask.publications.earlier import PublishedLinkage as PublishedLinkage
from unmask.publications.earlier import link_published as link_published
