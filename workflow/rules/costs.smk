# What steps and tokens cost: c_1, k, d, delta, time by class, and net savings.


rule measure_costs:
    """Step times, the cost slope k and the draft's part of it; savings by cell and by turn."""
    input:
        prompts=arms("results/{study}/prompts/{arm}.parquet"),
        positions=arms("results/{study}/positions/{arm}.parquet"),
        traces=arms("results/{study}/traces/{arm}-g0.parquet"),
        rounds=arms("results/{study}/rounds/{arm}-g0.parquet"),
        spec_traces=cells("results/{study}/traces/{arm}-g{depth}.parquet"),
        spec_rounds=cells("results/{study}/rounds/{arm}-g{depth}.parquet"),
        checks=ancient("results/{study}/checks.json"),
        code=code("measure-costs"),
    output:
        tables(
            "step_costs", "wave_costs", "cost_fits", "class_times", "savings", "turns"
        ),
    log:
        "results/{study}/logs/measure_costs.log",
    benchmark:
        "results/{study}/benchmarks/measure_costs.tsv"
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
        "Measure costs and savings in study {wildcards.study}"
    shell:
        "python -m draftlaw measure-costs --folder {params.folder:q} {params.arms} {params.depths}"
        " --evidence {params.evidence:q} > {log:q} 2>&1"
