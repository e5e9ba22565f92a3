# The replay view: one teacher-forced pass gives entropy and match at every position, and from the
# matches follow the accepted lengths of every round at every depth.


rule replay_positions:
    """Entropy, margins and draft match at every output position of an arm."""
    input:
        prompts="results/{study}/prompts/{arm}.parquet",
        traces="results/{study}/traces/{arm}-g0-l0.parquet",
        target="results/{study}/models/target",
        draft="results/{study}/models/draft",
        pair=checked_pair,
        code=code("replay-positions"),
    output:
        "results/{study}/replay/{arm}.parquet",
    log:
        "results/{study}/logs/replay_positions/{arm}.log",
    benchmark:
        "results/{study}/benchmarks/replay_positions/{arm}.tsv"
    conda:
        engine_env
    threads: 2
    resources:
        mem_mb=ask("mem_mb"),
        runtime=ask("runtime"),
        gpu=ask("gpu"),
        gpu_model=ask("gpu_model"),
    params:
        dtype=lambda wildcards: study(wildcards).engine.dtype,
        device=lambda wildcards: study(wildcards).engine.device,
    message:
        "Replay the positions of arm {wildcards.arm}"
    shell:
        "python -m draftlaw replay-positions --prompts {input.prompts:q} --traces {input.traces:q}"
        " --target {input.target:q} --draft {input.draft:q} --dtype {params.dtype}"
        " --device {params.device} --threads {threads} --out {output:q} > {log:q} 2>&1"


rule replay_rounds:
    """The rounds that an arm's matches imply, at every depth."""
    input:
        replay="results/{study}/replay/{arm}.parquet",
        code=code("replay-rounds"),
    output:
        "results/{study}/replay/{arm}-rounds.parquet",
    log:
        "results/{study}/logs/replay_rounds/{arm}.log",
    benchmark:
        "results/{study}/benchmarks/replay_rounds/{arm}.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        depths=lambda wildcards: repeated("depth", study(wildcards).depths),
    message:
        "Replay the rounds of arm {wildcards.arm}"
    shell:
        "python -m draftlaw replay-rounds --replay {input.replay:q} {params.depths}"
        " --out {output:q} > {log:q} 2>&1"


rule measure_entropy:
    """Entropy per class and arm, and the two predictabilities made from it."""
    input:
        prompts=arms("results/{study}/prompts/{arm}.parquet"),
        positions=arms("results/{study}/positions/{arm}.parquet"),
        replay=arms("results/{study}/replay/{arm}.parquet"),
        code=code("measure-entropy"),
    output:
        "results/{study}/entropy.parquet",
    log:
        "results/{study}/logs/measure_entropy.log",
    benchmark:
        "results/{study}/benchmarks/measure_entropy.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=20,
    params:
        folder=lambda wildcards: f"results/{wildcards.study}",
        arms=lambda wildcards: repeated("arm", study(wildcards).arms),
        evidence=grade,
    message:
        "Measure the entropy of every class and arm"
    shell:
        "python -m draftlaw measure-entropy --folder {params.folder:q} {params.arms}"
        " --evidence {params.evidence:q} > {log:q} 2>&1"
