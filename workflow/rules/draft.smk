# How the embedded study's draft was made: `make draft` does it again and compares held-out match.

DISTIL = CONFIG.distillation
TRAINED = f"results/{DISTIL.study}"
HELDOUT = f"results/{DISTIL.heldout}"
REBUILT = f"results/{DISTIL.rebuilt}"
TRAIN_ARMS = list(CONFIG.studies[DISTIL.study].arms)
HELDOUT_ARMS = list(CONFIG.studies[DISTIL.heldout].arms)
(HELDOUT_DEPTH,) = CONFIG.studies[DISTIL.heldout].depths


rule distil_draft:
    """Train some of the target's layers on its own answers; embeddings stay frozen."""
    input:
        target=f"{TRAINED}/models/target",
        prompts=expand("{root}/prompts/{arm}.parquet", root=TRAINED, arm=TRAIN_ARMS),
        traces=expand("{root}/traces/{arm}-g0-l0.parquet", root=TRAINED, arm=TRAIN_ARMS),
        code=code("distil-draft"),
    output:
        weights=f"{TRAINED}/draft.safetensors",
        history=f"{TRAINED}/draft.json",
    log:
        f"{TRAINED}/logs/distil_draft.log",
    benchmark:
        f"{TRAINED}/benchmarks/distil_draft.tsv"
    conda:
        "../../envs/engine-cpu.yaml"
    threads: WHOLE_MACHINE
    resources:
        mem_mb=8000,
        runtime=240,
    params:
        spec=lambda wildcards: json.dumps(
            DISTIL.model_dump(exclude={"study", "heldout", "rebuilt"}), sort_keys=True
        ),
        files=lambda wildcards, input: " ".join(
            repeated(option, input[option]) for option in ("prompts", "traces")
        ),
    message:
        "Distil the draft"
    shell:
        "python -m draftlaw distil-draft --target {input.target:q} {params.files}"
        " --spec {params.spec:q} --out {output.weights:q} --history {output.history:q}"
        " > {log:q} 2>&1"


rule compare_drafts:
    """The shipped draft and the one made again, on prompts neither was trained on."""
    input:
        rounds=expand(
            "{root}/rounds/{arm}-g{depth}-l0.parquet",
            root=[HELDOUT, REBUILT],
            arm=HELDOUT_ARMS,
            depth=[0, HELDOUT_DEPTH],
        ),
        replay=expand(
            "{root}/replay/{arm}.parquet", root=[HELDOUT, REBUILT], arm=HELDOUT_ARMS
        ),
        history=f"{TRAINED}/draft.json",
        code=code("compare-drafts"),
    output:
        f"{TRAINED}/comparison.json",
    log:
        f"{TRAINED}/logs/compare_drafts.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        shipped=lambda wildcards, input: Path(input.rounds[0]).parents[1],
        rebuilt=lambda wildcards, input: Path(input.rounds[-1]).parents[1],
        arms=repeated("arm", HELDOUT_ARMS),
        depth=HELDOUT_DEPTH,
    message:
        "Compare the shipped draft with the one made again"
    shell:
        "python -m draftlaw compare-drafts --shipped {params.shipped:q} --rebuilt {params.rebuilt:q}"
        " {params.arms} --depth {params.depth} --history {input.history:q} --out {output:q}"
        " > {log:q} 2>&1"
