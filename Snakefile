# The Draft Law, measured. Each stage of the protocol is one file of rules; this is their order.
#
#   models -> prompts -> traces -> positions -> rounds -> replay
#
# `{study}` is a wildcard everywhere: config.yaml says what a study is, results/{study}/ holds it.


configfile: "config.yaml"


include: "workflow/rules/common.smk"


rule all:
    """Everything of the study that the configuration names."""
    input:
        f"results/{CONFIG.study}/checks.json",
        f"results/{CONFIG.study}/entropy.parquet",


include: "workflow/rules/models.smk"  # the pair, prepared and checked
include: "workflow/rules/prompts.smk"  # frozen prompt sets, one per arm
include: "workflow/rules/traces.smk"  # baseline: outputs and times without speculation
include: "workflow/rules/positions.smk"  # position classes of every output token
include: "workflow/rules/rounds.smk"  # speculation: every round at every depth
include: "workflow/rules/replay.smk"  # entropy and match; every round explained
include: "workflow/rules/checks.smk"  # counting rules, identity, engine against replay
include: "workflow/rules/draft.smk"  # how the embedded study's draft was made
