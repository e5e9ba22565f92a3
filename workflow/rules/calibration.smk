# Calibration on arm A, and the law's predictions from it beside the data.


rule fit_kappa:
    """The draft's alignment constant on one half of arm A, checked on the other."""
    input:
        prompts=arms("results/{study}/prompts/{arm}.parquet"),
        positions=arms("results/{study}/positions/{arm}.parquet"),
        replay=arms("results/{study}/replay/{arm}.parquet"),
        code=code("fit-kappa"),
    output:
        tables("kappas", "reliability", "position_sums"),
    log:
        "results/{study}/logs/fit_kappa.log",
    benchmark:
        "results/{study}/benchmarks/fit_kappa.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=30,
    params:
        folder=lambda wildcards: f"results/{wildcards.study}",
        arms=lambda wildcards: repeated("arm", study(wildcards).arms),
        seed=CONFIG.analysis.seed,
        bins=CONFIG.analysis.bins,
        evidence=grade,
    message:
        "Fit kappa on arm A of study {wildcards.study}"
    shell:
        "python -m draftlaw fit-kappa --folder {params.folder:q} {params.arms} --seed {params.seed}"
        " --bins {params.bins} --evidence {params.evidence:q} > {log:q} 2>&1"


rule compare_law:
    """The law's accepted lengths, costs and crossings beside the measured ones, with its errors."""
    input:
        calibration=tables("kappas", "cost_fits", "entropy"),
        measured=tables("accepted", "cell_lengths", "step_costs", "savings", "turns"),
        code=code("compare-law"),
    output:
        tables("law", "law_errors", "crossings"),
    log:
        "results/{study}/logs/compare_law.log",
    benchmark:
        "results/{study}/benchmarks/compare_law.tsv"
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
        "Set the law beside the data of study {wildcards.study}"
    shell:
        "python -m draftlaw compare-law --folder {params.folder:q} --evidence {params.evidence:q}"
        " > {log:q} 2>&1"


rule compare_predictors:
    """Entropy against margin as predictors of the draft's mismatch (exploratory)."""
    input:
        prompts=arms("results/{study}/prompts/{arm}.parquet"),
        positions=arms("results/{study}/positions/{arm}.parquet"),
        replay=arms("results/{study}/replay/{arm}.parquet"),
        code=code("compare-predictors"),
    output:
        tables("mismatch_predictors", "predictor_bins"),
    log:
        "results/{study}/logs/compare_predictors.log",
    benchmark:
        "results/{study}/benchmarks/compare_predictors.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=30,
    params:
        folder=lambda wildcards: f"results/{wildcards.study}",
        arms=lambda wildcards: repeated("arm", study(wildcards).arms),
        bins=CONFIG.analysis.bins,
        evidence=grade,
    message:
        "Set entropy against margin in study {wildcards.study}"
    shell:
        "python -m draftlaw compare-predictors --folder {params.folder:q} {params.arms}"
        " --bins {params.bins} --evidence {params.evidence:q} > {log:q} 2>&1"
