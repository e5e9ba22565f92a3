"""Figures of the law alone, at assumed parameters: no measurement is in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from draftlaw.figures import style
from draftlaw.figures.assumed import Assumed
from draftlaw.law import PerClass, ceiling_speedup, mismatch, net_saving, predictability
from draftlaw.mean_field import MeanField, lengths

DEPTHS = (4, 8, 16)
SHARES = np.linspace(0.0, 1.0, 201)


def mean_field(assumed: Assumed) -> MeanField:
    """The law at the assumed parameters."""
    entropy = PerClass(assumed.entropy.S, assumed.entropy.R, assumed.entropy.F)
    return MeanField(assumed.k, assumed.kappa, assumed.r, entropy.apply(predictability))


def ceiling_saving(gamma: int, k: float) -> float:
    """Net saving when every draft token is accepted, 1."""
    return net_saving(1.0 / ceiling_speedup(gamma, k))


def saving_by_share(assumed: Assumed) -> Figure:
    """Net saving against schema share at each depth, with its break-evens and ceiling."""
    law = mean_field(assumed)
    marks = style.depth_marks(DEPTHS)
    figure, ((axes,),) = style.panels(1, 1, 2.6)
    axes.axhline(0, color=style.GREY, linewidth=0.6)
    for gamma, mark in marks.items():
        look: style.Look = {"color": mark.color, "linestyle": mark.line}
        axes.plot(SHARES, law.saving(SHARES, gamma), **look)
        axes.axhline(ceiling_saving(gamma, assumed.k), linewidth=0.5, **look)
        for crossing, fill in ((law.exact(gamma), mark.color), (law.first_order(gamma), "white")):
            if crossing.w_s is not None and 0 <= crossing.w_s <= 1:
                height = law.saving(np.array(crossing.w_s), gamma)
                axes.plot(
                    crossing.w_s, height, mark.marker, color=mark.color, mfc=fill, clip_on=False
                )
    axes.set(xlim=(0, 1), xlabel="schema share $w_S$", ylabel="net saving $s$")
    shape: style.Look = {"color": style.GREY, "marker": "o"}
    others = [
        Line2D([], [], linestyle="", label="exact $w_S^*$", **shape),
        Line2D([], [], linestyle="", mfc="white", label="first-order $w_S^*$", **shape),
        Line2D([], [], color=style.GREY, linewidth=0.5, label="ceiling"),
    ]
    style.legend(figure, [*(mark.handle() for mark in marks.values()), *others], 2)
    style.foot(figure, "analytical", _assumptions(assumed))
    return figure


def length_by_class(assumed: Assumed) -> Figure:
    """Accepted length of each class against depth, with the ceiling: every token accepted."""
    law = mean_field(assumed)
    rho = {"S": law.rho.schema, "R": law.rho.reasoning, "F": law.rho.prose}
    deepest = max(DEPTHS)
    depths = range(1, deepest + 1)
    figure, ((axes,),) = style.panels(1, 1, 2.4)
    axes.plot(depths, depths, color=style.GREY, linestyle=":", linewidth=0.8)
    for position_class, mark in style.CLASSES.items():
        tau = lengths(mismatch(rho[position_class], law.kappa).eps, deepest)
        axes.plot(
            depths,
            tau,
            color=mark.color,
            linestyle=mark.line,
            marker=mark.marker,
            markevery=[gamma - 1 for gamma in DEPTHS],
        )
    axes.set(
        xlim=(0, deepest + 0.5),
        ylim=(0, None),
        xlabel=r"draft depth $\gamma$ (tokens)",
        ylabel=r"accepted length $\tau$ (tokens)",
        xticks=DEPTHS,
    )
    ceiling = Line2D(
        [], [], color=style.GREY, linestyle=":", linewidth=0.8, label=r"ceiling $\gamma$"
    )
    style.legend(figure, [*(mark.handle() for mark in style.CLASSES.values()), ceiling], 2)
    style.foot(figure, "analytical", _assumptions(assumed))
    return figure


def _assumptions(assumed: Assumed) -> str:
    entropy = assumed.entropy
    return (
        rf"assumed: $k={assumed.k:g}$, $\kappa={assumed.kappa:g}$, $r={assumed.r:g}$, "
        rf"$H_S={entropy.S:g}$, $H_R={entropy.R:g}$, $H_F={entropy.F:g}$ nat"
    )


FIGURES: dict[str, Callable[[Assumed], Figure]] = {
    "saving_by_share": saving_by_share,
    "length_by_class": length_by_class,
}
