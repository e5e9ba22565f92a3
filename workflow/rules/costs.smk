# What steps and tokens cost: c_1, k, d, delta, time by class, and net savings.


rule measure_costs:
    """Step times, the cost slope k and the draft's part of it; savings by cell and by turn."""
    input:
        prompts=arms("results/{study}/prompts/{arm}.parquet"),
        positions=arms("results/{study}/positions/{arm}.parquet"),
        traces=launches("results/{study}/traces/{arm}-g{depth}-l{launch}.parquet"),
        rounds=launches("results/{study}/rounds/{arm}-g{depth}-l{launch}.parquet"),
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
        launches=launch_options,
        evidence=grade,
    message:
        "Measure costs and savings in study {wildcards.study}"
    shell:
        "python -m draftlaw measure-costs --folder {params.folder:q} {params.arms} {params.depths}"
        " {params.launches} --evidence {params.evidence:q} > {log:q} 2>&1"
