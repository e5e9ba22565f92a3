# Position classes: schema-constrained call, reasoning or prose, for every output token.


rule label_positions:
    """Class, span, straddler, forced and loop flags of an arm's baseline outputs."""
    input:
        prompts="results/{study}/prompts/{arm}.parquet",
        traces="results/{study}/traces/{arm}-g0-l0.parquet",
        target="results/{study}/models/target",
        code=code("label-positions"),
    output:
        "results/{study}/positions/{arm}.parquet",
    log:
        "results/{study}/logs/label_positions/{arm}.log",
    benchmark:
        "results/{study}/benchmarks/label_positions/{arm}.tsv"
    conda:
        engine_env
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        chat=lambda wildcards: as_json(study(wildcards).chat),
    message:
        "Label the positions of arm {wildcards.arm}"
    shell:
        "python -m draftlaw label-positions --prompts {input.prompts:q} --traces {input.traces:q}"
        " --target {input.target:q} --chat {params.chat:q} --out {output:q} > {log:q} 2>&1"
