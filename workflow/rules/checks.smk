# What must hold of a study's measurements before anything is concluded from them.


rule check_cells:
    """Counting rules, engine conditions, identity of outputs, engine rounds against replayed ones."""
    input:
        traces=launches("results/{study}/traces/{arm}-g{depth}-l{launch}.parquet"),
        rounds=launches("results/{study}/rounds/{arm}-g{depth}-l{launch}.parquet"),
        record=launches("results/{study}/engine/{arm}-g{depth}-l{launch}.json"),
        repeat=arms("results/{study}/traces/{arm}-repeat.parquet"),
        replay=arms("results/{study}/replay/{arm}.parquet"),
        replayed=arms("results/{study}/replay/{arm}-rounds.parquet"),
        code=code("check-cells"),
    output:
        tables("identity", "divergences"),
        checks="results/{study}/checks.json",
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
        folder=lambda wildcards: f"results/{wildcards.study}",
        arms=lambda wildcards: repeated("arm", study(wildcards).arms),
        depths=lambda wildcards: repeated("depth", study(wildcards).depths),
        launches=launch_options,
        evidence=grade,
    message:
        "Check counts, conditions, identity and replay of study {wildcards.study}"
    shell:
        "python -m draftlaw check-cells --folder {params.folder:q} {params.arms} {params.depths}"
        " {params.launches} --evidence {params.evidence:q} > {log:q} 2>&1"
