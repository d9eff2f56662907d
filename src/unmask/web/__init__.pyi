from unmask.web.server import Settings as Settings
from unmask.web.server import serve as serve
