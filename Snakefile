# The Draft Law, measured. Each stage of the protocol is one file of rules; this is their order.
#
#   models -> prompts -> traces -> positions -> rounds -> replay -> checks
#       -> acceptance, costs -> calibration -> verdicts -> figures -> paper
#
# `{study}` is a wildcard everywhere: config.yaml says what a study is, results/{study}/ holds it.


configfile: "config.yaml"


include: "workflow/rules/common.smk"


rule all:
    """Everything of the study that the configuration names."""
    input:
        f"results/{CONFIG.study}/checks.json",
        conclusions(CONFIG.study),


include: "workflow/rules/models.smk"  # the pair, prepared and checked
include: "workflow/rules/prompts.smk"  # frozen prompt sets, one per arm
include: "workflow/rules/traces.smk"  # baseline: outputs and times without speculation
include: "workflow/rules/positions.smk"  # position classes of every output token
include: "workflow/rules/rounds.smk"  # speculation: every round at every depth
include: "workflow/rules/replay.smk"  # entropy and match; every round explained
include: "workflow/rules/checks.smk"  # counting rules, identity, engine against replay
include: "workflow/rules/acceptance.smk"  # hazards by class and offset, accepted length tau
include: "workflow/rules/costs.smk"  # c_1, k, time by class, net savings
include: "workflow/rules/calibration.smk"  # kappa from arm A; the law beside the data
include: "workflow/rules/verdicts.smk"  # the registered predictions
include: "workflow/rules/figures.smk"  # the law alone, and the law beside the data
include: "workflow/rules/paper.smk"  # every number a macro; the text that prints them
include: "workflow/rules/benchmarks.smk"  # claims of speed, as ratios
include: "workflow/rules/draft.smk"  # how the embedded study's draft was made
