"""What was learnt, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unmask.linkage.channel.result import Told

if TYPE_CHECKING:
    from unmask.linkage.channel.material import Material
    from unmask.linkage.channel.select import Channel


def tell_columns(material: Material, channels: list[Channel]) -> tuple[Told, ...]:
    """One sentence per released column, the most telling first: by the channel that told most."""
    told: dict[str, Told] = {}
    for channel in channels:
        for entry in channel.learnt:
            name = material.records[entry.recipe.target].name
            if name not in told or entry.told > told[name].nats:
                told[name] = Told(name, tell(material, entry.recipe), entry.told)
    rest = [Told(c.name, "tells nothing about who it is", 0.0) for c in material.records if c.name not in told]
    return (*sorted(told.values(), key=lambda t: (-t.nats, t.column)), *rest)


def tell(material: Material, recipe: Any) -> str:  # noqa: ANN401 - any recipe
    """A clause that says what a released column is."""
    return str(recipe)
