# What must hold of a study's measurements before anything is concluded from them.


rule check_cells:
    """Counting rules, engine conditions, identity of outputs, engine rounds against replayed ones."""
    input:
        arms("results/{study}/traces/{arm}-g0.parquet"),
        arms("results/{study}/rounds/{arm}-g0.parquet"),
        arms("results/{study}/engine/{arm}-g0.json"),
        arms("results/{study}/replay/{arm}.parquet"),
        arms("results/{study}/replay/{arm}-rounds.parquet"),
        cells("results/{study}/traces/{arm}-g{depth}.parquet"),
        cells("results/{study}/rounds/{arm}-g{depth}.parquet"),
        cells("results/{study}/engine/{arm}-g{depth}.json"),
        code=code("check-cells"),
    output:
        "results/{study}/checks.json",
    params:
        folder="results/{study}",
        arms=lambda wildcards: repeated("arm", study(wildcards).arms),
        depths=lambda wildcards: repeated("depth", study(wildcards).depths),
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
    shell:
        "python -m draftlaw check-cells --folder {params.folder:q} {params.arms} {params.depths}"
        " --out {output:q} > {log:q} 2>&1"
