# The baseline: what the target writes, and what it costs, without speculation.


rule collect_traces:
    """An arm's outputs at every batch size, each decode step timed; one engine start."""
    input:
        prompts="results/{study}/prompts/{arm}.parquet",
        target="results/{study}/models/target",
        pair=checked_pair,
        code=code("generate"),
    output:
        traces="results/{study}/traces/{arm}-g0.parquet",
        rounds="results/{study}/rounds/{arm}-g0.parquet",
        record="results/{study}/engine/{arm}-g0.json",
    log:
        "results/{study}/logs/generate/{arm}-g0.log",
    benchmark:
        "results/{study}/benchmarks/generate/{arm}-g0.tsv"
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
        "Collect the traces of arm {wildcards.arm}: baseline, every batch size"
    shell:
        "python -m draftlaw generate --prompts {input.prompts:q} --target {input.target:q}"
        " --depth 0 {params.batches} --max-tokens {params.max_tokens} --engine {params.engine:q}"
        " --chat {params.chat:q} --traces {output.traces:q} --rounds {output.rounds:q}"
        " --record {output.record:q} > {log:q} 2>&1"
