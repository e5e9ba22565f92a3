# The baseline: what the target writes, and what it costs, without speculation.


rule collect_traces:
    """An arm's outputs at every batch size, each decode step timed; some run again as a control."""
    input:
        prompts="results/{study}/prompts/{arm}.parquet",
        target="results/{study}/models/target",
        pair=checked_pair,
        code=code("generate"),
    output:
        traces="results/{study}/traces/{arm}-g0-l0.parquet",
        rounds="results/{study}/rounds/{arm}-g0-l0.parquet",
        record="results/{study}/engine/{arm}-g0-l0.json",
        repeat="results/{study}/traces/{arm}-repeat.parquet",
    log:
        "results/{study}/logs/generate/{arm}-g0-l0.log",
    benchmark:
        "results/{study}/benchmarks/generate/{arm}-g0-l0.tsv"
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
        again=lambda wildcards: study(wildcards).launches.repeat,
    message:
        "Collect the traces of arm {wildcards.arm}: baseline, every batch size"
    shell:
        "python -m draftlaw generate --prompts {input.prompts:q} --target {input.target:q}"
        " --depth 0 {params.batches} --max-tokens {params.max_tokens} --engine {params.engine:q}"
        " --chat {params.chat:q} --traces {output.traces:q} --rounds {output.rounds:q}"
        " --record {output.record:q} --repeat {output.repeat:q} --again {params.again} > {log:q} 2>&1"


rule relaunch_baseline:
    """The same in another launch of the engine: its outputs are a control, its times count too."""
    input:
        prompts="results/{study}/prompts/{arm}.parquet",
        target="results/{study}/models/target",
        pair=checked_pair,
        code=code("generate"),
    output:
        traces="results/{study}/traces/{arm}-g0-l{launch}.parquet",
        rounds="results/{study}/rounds/{arm}-g0-l{launch}.parquet",
        record="results/{study}/engine/{arm}-g0-l{launch}.json",
    log:
        "results/{study}/logs/generate/{arm}-g0-l{launch}.log",
    benchmark:
        "results/{study}/benchmarks/generate/{arm}-g0-l{launch}.tsv"
    wildcard_constraints:
        launch="[1-9][0-9]*",
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
        "Launch {wildcards.launch} of arm {wildcards.arm}'s baseline"
    shell:
        "python -m draftlaw generate --prompts {input.prompts:q} --target {input.target:q}"
        " --depth 0 --launch {wildcards.launch} {params.batches} --max-tokens {params.max_tokens} --engine {params.engine:q}"
        " --chat {params.chat:q} --traces {output.traces:q} --rounds {output.rounds:q}"
        " --record {output.record:q} > {log:q} 2>&1"
