"""What a report tells of membership inference besides its judged figures, of a release and of a model alike."""

from __future__ import annotations

from unmask.disclosure.roc import Membership
from unmask.evidence import Fact, Figure, Series
from unmask.shares import percent, span

RARE_ALARMS = "share of people; needs 1,000 people outside to be told apart from 1 %"


def facts_of(found: Membership) -> tuple[Fact, ...]:
    """Recall, precision and F1, few false alarms, epsilon, and which attack it was."""
    figures = tuple(
        Fact(name, round(figure.value, 4), f"95 % CI {span(figure.low, figure.high)}; {words}", share=True)
        for name, figure, words in (
            ("recall", found.recall, "of the people in the release are accused"),
            ("precision", found.precision, "of the accused are in the release, if half of all people were"),
            ("F1", found.f1, "harmonic mean of recall and precision"),
            ("recognised at 0.1 % false alarms", found.tpr_at_01_percent, RARE_ALARMS),
        )
    )
    return (
        *figures,
        Fact(
            "empirical epsilon",
            round(found.epsilon.value, 2),
            f"at least {found.epsilon.low:.2f}, as differential privacy counts: ln(recognised / wrongly accused)",
        ),
        Fact("attack", ", ".join(found.attacks), "the best on one half of the people, used on the other half"),
    )


def figures_of(found: Membership) -> tuple[Figure, ...]:
    """Members recognised against outsiders accused, and how many of the accused are members."""
    recall, precision = found.precision_recall
    return (
        _figure(found),
        Figure(
            shape="line",
            title="How many of the accused are members, if half of all people were",
            caption="At the left the intruder accuses only those of whom they are surest.",
            alt=f"Precision against recall; at the left end {percent(precision[1])} of the accused are members.",
            x_label="members recognised",
            y_label="members among the accused",
            series=(
                Series("attack", tuple(recall[1:].tolist()), tuple(precision[1:].tolist())),
                Series("blind guess", (0.0, 1.0), (0.5, 0.5)),
            ),
            percent=(True, True),
        ),
    )


def _figure(found: Membership) -> Figure:
    return Figure(
        shape="line",
        title="Members recognised against outsiders accused",
        caption="The further the curve rises above the diagonal at the left, the more surely some "
        "people are recognised.",
        alt=f"ROC curve with AUC {found.auc.value:.3f}; {percent(found.tpr_at_1_percent.value)} recognised "
        "at 1 % false alarms.",
        x_label="outsiders accused",
        y_label="members recognised",
        series=(
            Series("attack", tuple(found.curve[0].tolist()), tuple(found.curve[1].tolist())),
            Series("blind guess", (0.0, 1.0), (0.0, 1.0)),
        ),
        percent=(True, True),
    )
