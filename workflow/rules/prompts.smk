# Frozen prompt sets: sampled from their sources, rendered in the pair's chat format, encoded.


rule freeze_prompts:
    """An arm's prompts, as every later stage sees them."""
    input:
        target="results/{study}/models/target",
        pair=checked_pair,
        files=prompt_files,
        wheel=branch(
            lambda wildcards: study(wildcards).uses_bfcl(wildcards.arm),
            then=wheel(studies.BFCL),
        ),
        code=code("freeze-prompts"),
    output:
        "results/{study}/prompts/{arm}.parquet",
    log:
        "results/{study}/logs/freeze_prompts/{arm}.log",
    benchmark:
        "results/{study}/benchmarks/freeze_prompts/{arm}.tsv"
    conda:
        engine_env
    threads: 1
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        spec=lambda wildcards: as_json(arm(wildcards).prompts),
        chat=lambda wildcards: as_json(study(wildcards).chat),
        wheel=lambda wildcards, input: f"--wheel {input.wheel}" if input.wheel else "",
    message:
        "Freeze the prompts of arm {wildcards.arm}"
    shell:
        "python -m draftlaw freeze-prompts --spec {params.spec:q} --chat {params.chat:q}"
        " --target {input.target:q} {params.wheel} --out {output:q} > {log:q} 2>&1"
