from unmask.report import document as document
from unmask.report.charts import draw as draw
from unmask.report.html import render as render
from unmask.report.terminal import show as show
from unmask.report.terminal import show_checks as show_checks
from unmask.report.terminal import show_gauntlet as show_gauntlet
from unmask.report.words import percent as percent
