# Acceptance by position class: hazards by draft offset, accepted length tau, engine and replay.


rule measure_acceptance:
    """Which draft tokens were examined and which rejected, by class and offset; tau from them."""
    input:
        prompts=arms("results/{study}/prompts/{arm}.parquet"),
        traces=arms("results/{study}/traces/{arm}-g0-l0.parquet"),
        positions=arms("results/{study}/positions/{arm}.parquet"),
        replayed=arms("results/{study}/replay/{arm}-rounds.parquet"),
        spec_traces=cells("results/{study}/traces/{arm}-g{depth}-l0.parquet"),
        spec_rounds=cells("results/{study}/rounds/{arm}-g{depth}-l0.parquet"),
        code=code("measure-acceptance"),
    output:
        tables("risk_sets", "hazards", "accepted", "round_means", "cell_lengths"),
    log:
        "results/{study}/logs/measure_acceptance.log",
    benchmark:
        "results/{study}/benchmarks/measure_acceptance.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=30,
    params:
        folder=lambda wildcards: f"results/{wildcards.study}",
        arms=lambda wildcards: repeated("arm", study(wildcards).arms),
        depths=lambda wildcards: repeated("depth", study(wildcards).depths),
        evidence=grade,
    message:
        "Measure acceptance by class in study {wildcards.study}"
    shell:
        "python -m draftlaw measure-acceptance --folder {params.folder:q} {params.arms} {params.depths}"
        " --evidence {params.evidence:q} > {log:q} 2>&1"
