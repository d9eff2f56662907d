"""The paper's attack, solved: the union of all maximum cliques of the product graph, with a certificate [KROLL]_.

The same machinery answers the calibration's question: would files without anyone in common show a clique of this size?
"""

from __future__ import annotations

from unmask.graph.geometry import shared_map
from unmask.graph.problem import Task
from unmask.graph.result import CliqueLinkage, answer, shared_belief
from unmask.kernels.cliques import quasi, reaches, solve
from unmask.study import check_memory


def attack(task: Task) -> CliqueLinkage:
    """Claim the union of all maximum cliques, and (gamma) pairs that agree with most of it."""
    check_memory(task.problem.memory, "the exact attack on these files", "more labels, or method seeds or geometric")
    task.tell(0.0, "cliques")
    s, budget = task.problem.exact_sides(), task.budget
    found, rows, cols = solve(s, budget=budget, tell=lambda share: task.tell(share, "cliques"))
    maps = shared_map(task.problem, rows[found.clique], cols[found.clique])
    null = task.by_chance(found.size, maps, lambda other: reaches(other.exact_sides(), found.size, budget=budget))
    rows, cols = rows[found.union], cols[found.union]
    if task.gamma is not None:
        rows, cols = quasi(s, rows, cols, task.gamma)
    return answer(
        task, CliqueLinkage, (rows, cols), null, shared_belief(rows, cols), method="exact", n_agree=found.size,
        why=task.why if found.certified else f"{task.why}; the budget ended before the proof",
        n_cliques=found.n_found, exact=found.certified, gamma=task.gamma,
    )  # fmt: skip
