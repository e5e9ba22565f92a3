# Figures: of the law alone, at assumed parameters, and of a study's measurements beside the law.


rule draw_law:
    """What the law says at assumed parameters; no measurement is in these figures."""
    input:
        code=code("draw-law"),
    output:
        directory("results/analytical/figures"),
    log:
        "results/analytical/logs/draw_law.log",
    benchmark:
        "results/analytical/benchmarks/draw_law.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: WHOLE_MACHINE  # so that it never starts beside the check of the pair
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        assumed=as_json(CONFIG.analytical),
    message:
        "Draw the law at assumed parameters"
    shell:
        "python -m draftlaw draw-law --assumed {params.assumed:q} --out {output:q} > {log:q} 2>&1"


rule draw_figures:
    """A study's accepted lengths, kappa, times and savings, beside what the law says of them."""
    input:
        tables=tables(
            "accepted",
            "class_times",
            "cost_fits",
            "crossings",
            "hazards",
            "intervals",
            "kappas",
            "law",
            "law_errors",
            "mismatch_predictors",
            "operator",
            "predictor_bins",
            "reliability",
            "savings",
            "step_costs",
            "turns",
        ),
        code=code("draw-figures"),
    output:
        directory("results/{study}/figures"),
    log:
        "results/{study}/logs/draw_figures.log",
    benchmark:
        "results/{study}/benchmarks/draw_figures.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        folder=lambda wildcards: f"results/{wildcards.study}",
        evidence=grade,
    message:
        "Draw the figures of study {wildcards.study}"
    shell:
        "python -m draftlaw draw-figures --folder {params.folder:q} --evidence {params.evidence:q}"
        " --out {output:q} > {log:q} 2>&1"
