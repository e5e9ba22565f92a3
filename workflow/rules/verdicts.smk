# The registered predictions.


rule judge_predictions:
    """P1-P4 by the paper's literal rules on point estimates (descriptive)."""
    input:
        tables=tables("law", "crossings", "turns"),
        code=code("judge-predictions"),
    output:
        tables("verdicts"),
    log:
        "results/{study}/logs/judge_predictions.log",
    benchmark:
        "results/{study}/benchmarks/judge_predictions.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        folder=lambda wildcards: f"results/{wildcards.study}",
        evidence=grade,
    message:
        "Read the predictions in study {wildcards.study}"
    shell:
        "python -m draftlaw judge-predictions --folder {params.folder:q} --evidence {params.evidence:q}"
        " > {log:q} 2>&1"
