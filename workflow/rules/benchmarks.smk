# Claims of speed, as ratios against something named (`make bench`).

SPEED = "results/{study}/speed"


rule time_replay:
    """The entropy-and-match pass against a bare forward of the same tokens."""
    input:
        prompts="results/{study}/prompts/B.parquet",
        traces="results/{study}/traces/B-g0-l0.parquet",
        target="results/{study}/models/target",
        draft="results/{study}/models/draft",
        script="benchmarks/replay_pass.py",
    output:
        f"{SPEED}/replay.json",
    log:
        "results/{study}/logs/time_replay.log",
    conda:
        engine_env
    threads: WHOLE_MACHINE
    resources:
        mem_mb=ask("mem_mb"),
        runtime=ask("runtime"),
        gpu=ask("gpu"),
        gpu_model=ask("gpu_model"),
    params:
        dtype=lambda wildcards: study(wildcards).engine.dtype,
        device=lambda wildcards: study(wildcards).engine.device,
    message:
        "Time the replay against a bare forward"
    shell:
        "python {input.script:q} --prompts {input.prompts:q} --traces {input.traces:q}"
        " --target {input.target:q} --draft {input.draft:q} --dtype {params.dtype}"
        " --device {params.device} --threads {threads} --out {output:q} > {log:q} 2>&1"


rule time_generation:
    """Measured generation against plain `LLM.generate` without detailed metrics."""
    input:
        prompts="results/{study}/prompts/B.parquet",
        target="results/{study}/models/target",
        draft="results/{study}/models/draft",
        script="benchmarks/generation.py",
    output:
        f"{SPEED}/generation-b{{batch}}.json",
    log:
        "results/{study}/logs/time_generation-b{batch}.log",
    conda:
        engine_env
    threads: WHOLE_MACHINE
    resources:
        mem_mb=ask("mem_mb"),
        runtime=ask("runtime"),
        gpu=ask("gpu"),
        gpu_model=ask("gpu_model"),
    params:
        depth=lambda wildcards: study(wildcards).depths[0],
        max_tokens=lambda wildcards: study(wildcards).arms["B"].max_tokens,
        engine=lambda wildcards: as_json(study(wildcards).engine),
    message:
        "Time measured against plain generation, batch {wildcards.batch}"
    shell:
        "python {input.script:q} compare --prompts {input.prompts:q} --target {input.target:q}"
        " --draft {input.draft:q} --depth {params.depth} --batch {wildcards.batch}"
        " --max-tokens {params.max_tokens} --engine {params.engine:q} --out {output:q}"
        " > {log:q} 2>&1"


rule time_shares:
    """Replay of all depths against the engine's runs of them; start-up's share of engine time."""
    input:
        replayed=arms("results/{study}/replay/{arm}-rounds.parquet"),
        records=cells("results/{study}/engine/{arm}-g{depth}-l0.json"),
        script="benchmarks/shares.py",
    output:
        f"{SPEED}/shares.json",
    log:
        "results/{study}/logs/time_shares.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        folder=lambda wildcards: f"results/{wildcards.study}",
        arms=lambda wildcards: repeated("arm", study(wildcards).arms),
        depths=lambda wildcards: repeated("depth", study(wildcards).depths),
    message:
        "Read the shares of study {wildcards.study}"
    shell:
        "python {input.script:q} --folder {params.folder:q} {params.arms} {params.depths}"
        " --out {output:q} > {log:q} 2>&1"
