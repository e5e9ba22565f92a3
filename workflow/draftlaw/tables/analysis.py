"""What is concluded from measurements: acceptance, costs, calibration, savings, verdicts."""

import pyarrow as pa

from draftlaw.tables.parquet import Column, Table
from draftlaw.tables.replay import VARIANTS

_ARM = Column("arm", pa.string(), "the arm")
_BATCH = Column("batch", pa.int16(), "requests the engine was given at once", "request", low=1)
_DEPTH = Column("depth", pa.int16(), "draft tokens per round, gamma; 0: baseline", "token", low=0)
_CLASS = Column("position_class", pa.string(), "class of positions", among=("S", "R", "F"))
_VIEW = Column("view", pa.string(), "who counted the rounds", among=("engine", "replay"))
_VARIANT = Column("variant", pa.string(), "which positions (see entropy)", among=VARIANTS)
_CLUSTER = Column("cluster", pa.string(), "sampling unit: the request, in arm D the trajectory")


def _number(name: str, meaning: str, unit: str = "", **limits: float) -> Column:
    return Column(name, pa.float64(), meaning, unit, **limits)  # type: ignore[arg-type]


def _maybe(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, pa.float64(), meaning + "; null: not estimable", unit, nullable=True)


def _count(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, pa.int64(), meaning, unit, low=0)


RISK_SETS = Table(
    "risk_sets",
    key=("view", "arm", "batch", "depth", "position_class", "variant", "cluster", "offset"),
    columns=(
        _VIEW,
        _ARM,
        _BATCH,
        _DEPTH,
        _CLASS,
        _VARIANT,
        _CLUSTER,
        Column("offset", pa.int16(), "place in the draft, from 1", "token", low=1),
        _count(
            "at_risk", "draft tokens there whose predecessors were accepted, same span", "token"
        ),
        _count("rejected", "those rejected, cut by the grammar included", "token"),
    ),
)
"""Sufficient statistics of acceptance, by sampling unit: every tau is made of their sums."""

HAZARDS = Table(
    "hazards",
    key=("view", "arm", "batch", "depth", "position_class", "variant", "offset"),
    columns=(
        _VIEW,
        _ARM,
        _BATCH,
        _DEPTH,
        _CLASS,
        _VARIANT,
        Column("offset", pa.int16(), "place in the draft, from 1", "token", low=1),
        _count("at_risk", "draft tokens examined there", "token"),
        _count("rejected", "those rejected", "token"),
        _maybe("hazard", "share rejected"),
        _maybe("survival", "chance that all tokens up to here are accepted"),
    ),
)

ACCEPTED = Table(
    "accepted",
    key=("view", "arm", "batch", "depth", "position_class", "variant"),
    columns=(
        _VIEW,
        _ARM,
        _BATCH,
        _DEPTH,
        _CLASS,
        _VARIANT,
        _count("clusters", "sampling units at risk"),
        _count("examined", "draft tokens examined", "token"),
        _maybe("tau", "accepted length: sum over offsets of survival", "token"),
        _maybe("rate", "accepted / examined draft tokens (descriptive only)"),
    ),
)

ROUND_MEANS = Table(
    "round_means",
    key=("view", "arm", "batch", "depth", "position_class"),
    columns=(
        _VIEW,
        _ARM,
        _BATCH,
        _DEPTH,
        Column("position_class", pa.string(), "class at the round's start", among=("S", "R", "F")),
        _count("rounds", "rounds that start in the class"),
        _maybe("mean_accepted", "their mean accepted length (secondary to tau)", "token"),
        _maybe("mean_accepted_whole", "the same over rounds within one span", "token"),
    ),
)

CELL_LENGTHS = Table(
    "cell_lengths",
    key=("view", "arm", "batch", "depth"),
    columns=(
        _VIEW,
        _ARM,
        _BATCH,
        _DEPTH,
        _count("rounds", "rounds of the cell, whatever their classes"),
        _count("truncated", "those cut by the end of their output"),
        _maybe("tau", "accepted length over all of them; the end of an output censors", "token"),
    ),
)

STEP_COSTS = Table(
    "step_costs",
    key=("arm", "batch", "depth"),
    columns=(
        _ARM,
        _BATCH,
        _DEPTH,
        _count("steps", "full steps without a prefill that were timed"),
        _maybe("step_seconds", "mean wall time of such a step, T(gamma)", "s"),
        _maybe("draft_seconds", "of it, the draft's proposals", "s"),
        _maybe("relative", "T(gamma) / c_1, c_1 of the same arm and batch"),
        _maybe("k_gamma", "(T(gamma) / c_1 - 1) / gamma; null: baseline"),
    ),
)

WAVE_COSTS = Table(
    "wave_costs",
    key=("arm", "batch", "depth", "launch", "wave"),
    columns=(
        _ARM,
        _BATCH,
        _DEPTH,
        Column("launch", pa.int16(), "launch of the engine, from 0", low=0),
        Column("wave", pa.int32(), "group of requests that started together", low=0),
        _count("steps", "full steps without a prefill that were timed"),
        _number("step_seconds", "sum of their wall times", "s", low=0),
        _number("draft_seconds", "of it, the draft's proposals", "s", low=0),
    ),
)
"""Sufficient statistics of step times, by timing unit: a wave of a launch."""

COST_FITS = Table(
    "cost_fits",
    key=("arm", "batch"),
    columns=(
        _ARM,
        _BATCH,
        _maybe("c_1", "a target pass without speculation", "s"),
        _maybe("k", "slope of T(gamma)/c_1 through 1: the law's cost slope"),
        _maybe("overhead", "fixed cost of a round in target passes, free intercept less 1"),
        _maybe("k_free", "slope with that intercept free"),
        _maybe("d", "draft pass / target pass, from timed proposals"),
        _maybe("delta", "k - d, not clipped"),
    ),
)

CLASS_TIMES = Table(
    "class_times",
    key=("arm", "batch", "depth", "position_class"),
    columns=(
        _ARM,
        _BATCH,
        _DEPTH,
        Column("position_class", pa.string(), "class at the round's start", among=("S", "R", "F")),
        _count("rounds", "rounds in full steps without a prefill"),
        _number("step_seconds", "mean wall time of their steps", "s", low=0),
        _maybe("relative", "that / c_1 of arm A, same batch"),
    ),
)

KAPPAS = Table(
    "kappas",
    key=("batch", "half"),
    columns=(
        _BATCH,
        Column("half", pa.string(), "of arm A's requests", among=("fit", "check", "all")),
        _count("clusters", "requests"),
        _count("positions", "positions of class F", "token"),
        _number("mismatch", "eps_A: share where the draft's argmax differs", low=0, high=1),
        _number("mean_entropy", "H_A", "nat", low=0),
        _number("predictability_of_mean", "exp(-H_A)", low=0, high=1),
        _number("mean_predictability", "mean of exp(-H_i)", low=0, high=1),
        _maybe("kappa_id", "eps_A / (1 - exp(-H_A)): the paper's letter, primary"),
        _maybe("kappa_pos", "sum of mismatches / sum of 1 - exp(-H_i)"),
        _maybe(
            "kappa_one_hot", "kappa_id if all were sampled at temperature 1, the draft's argmax"
        ),
        _maybe("kappa_sampled", "the same for a draft that samples too"),
        _maybe("kappa_ls", "least squares of mismatch on 1 - exp(-H_i) through the origin"),
        _maybe("kappa_ls_se", "its cluster-robust standard error"),
        _maybe("intercept", "of the same regression with an intercept"),
        _maybe("intercept_se", "its cluster-robust standard error"),
        _maybe("slope", "of the regression with an intercept"),
        _maybe("predicted", "mismatch here by kappa_id of the half `fit`"),
        _maybe("clipped", "share of positions where kappa_pos (1 - exp(-H_i)) is above 1"),
    ),
)

POSITION_SUMS = Table(
    "position_sums",
    key=("arm", "batch", "position_class", "cluster"),
    columns=(
        _ARM,
        _BATCH,
        _CLASS,
        _CLUSTER,
        Column("half", pa.string(), "of the control arm's units", among=("fit", "check", "none")),
        _count("positions", "output positions of the class", "token"),
        _count("mismatches", "those where the draft's argmax differs", "token"),
        _number("entropy", "sum of H_i", "nat", low=0),
    ),
)
"""Sufficient statistics of entropy and kappa, by sampling unit."""

RELIABILITY = Table(
    "reliability",
    key=("arm", "batch", "position_class", "bin"),
    columns=(
        _ARM,
        _BATCH,
        _CLASS,
        Column("bin", pa.int16(), "quantile bin of 1 - exp(-H_i), from 0", low=0),
        _count("positions", "positions in the bin", "token"),
        _number("unpredictability", "mean of 1 - exp(-H_i)", low=0, high=1),
        _number("mismatch", "share where the draft's argmax differs", low=0, high=1),
        _number("mismatch_se", "its standard error over clusters", low=0),
    ),
)

LAW = Table(
    "law",
    key=("batch", "depth", "position_class"),
    columns=(
        _BATCH,
        _DEPTH,
        _CLASS,
        _ARM,
        _number("rho", "exp(-H_c) of the class in its own arm", low=0, high=1),
        _maybe("kappa", "kappa_id of arm A, half `fit`"),
        _maybe("eps", "predicted mismatch, min(1, kappa (1 - rho))"),
        Column("clipped", pa.bool_(), "eps was clipped at 1"),
        _maybe("tau_law", "accepted length by the law", "token"),
        _maybe("tau", "accepted length measured, hazard estimator", "token"),
        _maybe("saving_law", "net saving by the law, with arm A's k"),
        _maybe("saving", "net saving measured in the class's own arm"),
    ),
)

LAW_FORMS = ("mean_field", "span_resolved", "overhead", "replayed")
"""Forms of the law's prediction: the law itself, and three that each change one thing in it."""

LAW_ERRORS = Table(
    "law_errors",
    key=("arm", "batch", "depth", "form"),
    columns=(
        _ARM,
        _BATCH,
        _DEPTH,
        Column(
            "form",
            pa.string(),
            "mean_field: the law at the arm's class mix; span_resolved: its tau by the harmonic "
            "mean over classes; overhead: its cost with the fitted fixed cost of a round; "
            "replayed: its tau as the replay has it",
            among=LAW_FORMS,
        ),
        _count("rounds", "rounds that the engine counted"),
        _count("truncated", "those cut by the end of their output"),
        _maybe("tau_predicted", "accepted length by the form", "token"),
        _maybe("tau", "accepted length measured: all rounds, ends of outputs censor", "token"),
        _maybe("tau_error", "tau_predicted / tau - 1"),
        _maybe("cost_predicted", "c_net / c_1 by the form, with arm A's k"),
        _maybe("cost", "c_net / c_1 measured: T(gamma) / c_1 of the arm over tau + 1"),
        _maybe("cost_error", "cost_predicted / cost - 1"),
        _maybe("cost_paid", "seconds per token with / without, rounds cut by an end included"),
    ),
)

PREDICTORS = ("entropy", "margin")
"""What is set against the draft's mismatch, from the target alone."""

_PREDICTOR = Column(
    "predictor",
    pa.string(),
    "the score: entropy, 1 - exp(-H_i); margin, exp(-m_i) with m_i the target's top-1 minus top-2 "
    "log-probability, 0 where one token is allowed; both masked in class S",
    among=PREDICTORS,
)

MISMATCH_PREDICTORS = Table(
    "mismatch_predictors",
    key=("arm", "batch", "position_class", "predictor"),
    columns=(
        _ARM,
        _BATCH,
        _CLASS,
        _PREDICTOR,
        _count("clusters", "sampling units"),
        _count("positions", "output positions", "token"),
        _count("mismatches", "those where the draft's argmax differs", "token"),
        _maybe("auc", "chance that a mismatch has the higher score (area under the ROC curve)"),
        _maybe("auc_se", "its standard error, robust by sampling unit"),
        _maybe("advantage", "that area less the other predictor's"),
        _maybe("advantage_se", "its standard error, paired and robust by sampling unit"),
        _maybe("spearman", "rank correlation of score and mismatch"),
        _maybe("calibration_error", "mean gap over bins between mismatch and the scaled score"),
    ),
)
"""Exploratory: which of two scores of the target tells where the draft is rejected."""

PREDICTOR_BINS = Table(
    "predictor_bins",
    key=("arm", "batch", "position_class", "predictor", "bin"),
    columns=(
        _ARM,
        _BATCH,
        _CLASS,
        _PREDICTOR,
        Column("bin", pa.int16(), "quantile bin of the score, from 0", low=0),
        _count("positions", "positions in the bin", "token"),
        _number("score", "mean of the score", low=0, high=1),
        _number("mismatch", "share where the draft's argmax differs", low=0, high=1),
        _number("mismatch_se", "its standard error over clusters", low=0),
    ),
)
"""Exploratory: the reliability curve of either score."""

CROSSINGS = Table(
    "crossings",
    key=("batch", "depth"),
    columns=(
        _BATCH,
        _DEPTH,
        _maybe("k", "arm A's cost slope"),
        _maybe("r", "reasoning share of arm D's non-schema positions"),
        _maybe("eps_exact", "exact break-even mismatch"),
        _maybe("eps_first_order", "the paper's first-order one"),
        _maybe("first_order_error", "first-order / exact - 1"),
        _maybe("share_exact", "predicted break-even w_S*, exact identity, unclipped"),
        Column("reading_exact", pa.string(), "what it says"),
        _maybe("share_first_order", "the same by the first-order identity"),
        Column("reading_first_order", pa.string(), "what it says"),
        _maybe("share_span_resolved", "crossing by the law's own savings per class in long spans"),
        _maybe("share_measured", "zero of the regression of saving on w_S over arm D's turns"),
        _maybe("slope_measured", "its slope"),
        _maybe("saving_at_0", "its value at w_S = 0"),
        _maybe("saving_at_1", "its value at w_S = 1"),
        _count("turns", "turns of arm D"),
    ),
)

SAVINGS = Table(
    "savings",
    key=("arm", "batch", "depth"),
    columns=(
        _ARM,
        _BATCH,
        _DEPTH,
        _count("requests", "requests"),
        _count("tokens", "output tokens of decode rounds, with speculation", "token"),
        _maybe("baseline_seconds", "decode seconds per token without speculation", "s"),
        _maybe("seconds", "with speculation", "s"),
        _maybe("saving", "net saving, 1 - with / without"),
        _maybe("length", "tokens per round, bonus token included: the gross speedup", "token"),
    ),
)

TURNS = Table(
    "turns",
    key=("arm", "batch", "depth", "request_id"),
    columns=(
        _ARM,
        _BATCH,
        _DEPTH,
        Column("request_id", pa.string(), "the request"),
        _CLUSTER,
        Column("turn", pa.int16(), "assistant turn of its trajectory, from 0", low=0),
        _count("tokens", "output tokens", "token"),
        _number("w_s", "share of schema-constrained positions", low=0, high=1),
        _number("w_r", "share of reasoning positions", low=0, high=1),
        _number("w_f", "share of free-form positions", low=0, high=1),
        _maybe("baseline_seconds", "decode seconds per token without speculation", "s"),
        _maybe("seconds", "with speculation", "s"),
        _maybe("saving", "net saving, 1 - with / without"),
        _maybe("accepted", "accepted draft tokens per round", "token"),
        Column("identical", pa.bool_(), "same output with and without speculation"),
    ),
)

INTERVALS = Table(
    "intervals",
    key=("quantity", "position_class", "depth", "batch"),
    columns=(
        Column(
            "quantity",
            pa.string(),
            "what was estimated",
            among=(
                "tau",
                "rho",
                "kappa_id",
                "k",
                "predicted_crossing",
                "first_order_crossing",
                "span_crossing",
                "measured_crossing",
            ),
        ),
        Column("position_class", pa.string(), "of the quantity", among=("S", "R", "F", "none")),
        Column("depth", pa.int16(), "draft tokens per round; 0: not of one depth", "token", low=0),
        _BATCH,
        _maybe("estimate", "its point estimate"),
        Column("low", pa.float64(), "lower end of its interval; -inf: unbounded"),
        Column("high", pa.float64(), "upper end; inf: unbounded"),
        _number("level", "confidence level", low=0, high=1),
    ),
)

OPERATOR_SHARES = tuple(place / 10 for place in range(11))
"""Schema shares w_S that the operator's table lists."""

OPERATOR = Table(
    "operator",
    key=("batch", "depth", "share"),
    columns=(
        _BATCH,
        _DEPTH,
        _number("share", "schema share w_S", low=0, high=1),
        _maybe("length", "gross speedup: tau + 1, with a draft that costs nothing"),
        _maybe("saving", "net saving s of the calibrated mean-field law"),
        Column("low", pa.float64(), "lower end of its interval; -inf: unbounded"),
        Column("high", pa.float64(), "upper end; inf: unbounded"),
        _number("level", "confidence level", low=0, high=1),
        _maybe("spans", "net saving of the span-resolved law"),
        Column("best", pa.bool_(), "of all depths this saves most here, and it saves"),
    ),
)

VERDICTS = Table(
    "verdicts",
    key=("prediction", "quantity", "batch", "depth"),
    columns=(
        Column("prediction", pa.string(), "P1-P4", among=("P1", "P2", "P3", "P4")),
        Column("quantity", pa.string(), "what was looked at"),
        _BATCH,
        _DEPTH,
        _maybe("estimate", "its point estimate"),
        Column("low", pa.float64(), "lower end of its interval", nullable=True),
        Column("high", pa.float64(), "upper end", nullable=True),
        _number("level", "confidence level of the interval", low=0, high=1),
        _maybe("threshold", "what the prediction compares it with"),
        _maybe("support_p", "one-sided p-value that the prediction does not hold there"),
        _maybe("refute_p", "one-sided p-value that its refutation does not"),
        Column(
            "literal",
            pa.string(),
            "the paper's rule read on the point estimate",
            among=("holds", "fails", "not estimable", "not measured"),
        ),
        _count("requests", "requests behind it"),
        _count("positions", "output positions behind it", "token"),
        Column("reason", pa.string(), "in words"),
    ),
)
