# Speculation: the draft proposes, the target verifies, and every round is counted and timed.


rule measure_rounds:
    """An arm at one depth, every batch size in one launch of the engine."""
    input:
        prompts="results/{study}/prompts/{arm}.parquet",
        target="results/{study}/models/target",
        draft="results/{study}/models/draft",
        pair=checked_pair,
        code=code("generate"),
    output:
        traces="results/{study}/traces/{arm}-g{depth}-l{launch}.parquet",
        rounds="results/{study}/rounds/{arm}-g{depth}-l{launch}.parquet",
        record="results/{study}/engine/{arm}-g{depth}-l{launch}.json",
    log:
        "results/{study}/logs/generate/{arm}-g{depth}-l{launch}.log",
    benchmark:
        "results/{study}/benchmarks/generate/{arm}-g{depth}-l{launch}.tsv"
    priority: place_of_cell
    conda:
        engine_env
    threads: WHOLE_MACHINE
    resources:
        mem_mb=ask("mem_mb"),
        runtime=ask("runtime"),
        gpu=ask("gpu"),
        gpu_model=ask("gpu_model"),
    params:
        batches=lambda wildcards: repeated("batch", study(wildcards).batches),
        max_tokens=lambda wildcards: arm(wildcards).max_tokens,
        engine=lambda wildcards: as_json(study(wildcards).engine),
        chat=lambda wildcards: as_json(study(wildcards).chat),
    message:
        "Measure the rounds of arm {wildcards.arm} at depth {wildcards.depth}, launch {wildcards.launch}"
    shell:
        "python -m draftlaw generate --prompts {input.prompts:q} --target {input.target:q}"
        " --draft {input.draft:q} --depth {wildcards.depth} --launch {wildcards.launch}"
        " {params.batches} --max-tokens {params.max_tokens} --engine {params.engine:q} --chat {params.chat:q}"
        " --traces {output.traces:q} --rounds {output.rounds:q} --record {output.record:q}"
        " > {log:q} 2>&1"
