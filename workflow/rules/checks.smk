# What must hold of a study's measurements before anything is concluded from them.


rule check_cells:
    """Counting rules, engine conditions, identity of outputs, engine rounds against replayed ones."""
    input:
        traces=arms("results/{study}/traces/{arm}-g0.parquet"),
        rounds=arms("results/{study}/rounds/{arm}-g0.parquet"),
        record=arms("results/{study}/engine/{arm}-g0.json"),
        replay=arms("results/{study}/replay/{arm}.parquet"),
        replayed=arms("results/{study}/replay/{arm}-rounds.parquet"),
        spec_traces=cells("results/{study}/traces/{arm}-g{depth}.parquet"),
        spec_rounds=cells("results/{study}/rounds/{arm}-g{depth}.parquet"),
        spec_records=cells("results/{study}/engine/{arm}-g{depth}.json"),
        code=code("check-cells"),
    output:
        "results/{study}/checks.json",
    log:
        "results/{study}/logs/check_cells.log",
    benchmark:
        "results/{study}/benchmarks/check_cells.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=20,
    params:
        folder=lambda wildcards, output: Path(output[0]).parent,
        arms=lambda wildcards: repeated("arm", study(wildcards).arms),
        depths=lambda wildcards: repeated("depth", study(wildcards).depths),
    message:
        "Check counts, conditions, identity and replay of study {wildcards.study}"
    shell:
        "python -m draftlaw check-cells --folder {params.folder:q} {params.arms} {params.depths}"
        " --out {output:q} > {log:q} 2>&1"
