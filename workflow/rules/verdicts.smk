# The registered predictions.


rule judge_predictions:
    """P1-P4: readings with intervals in every cell, verdicts, and the operator's rule."""
    input:
        tables=tables("risk_sets", "position_sums", "wave_costs", "turns"),
        outputs=tables("identity", "divergences"),
        code=code("judge-predictions"),
    output:
        tables("verdicts", "intervals", "operator"),
        verdicts="results/{study}/verdicts.json",
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
        decisions=as_json(CONFIG.analysis.decisions),
        seed=CONFIG.analysis.seed,
        evidence=grade,
        selection=lambda wildcards: study(wildcards).selection,
    message:
        "Judge the predictions in study {wildcards.study}"
    shell:
        "python -m draftlaw judge-predictions --study {wildcards.study} --folder {params.folder:q}"
        " --decisions {params.decisions:q} --seed {params.seed} --evidence {params.evidence:q}"
        " --selection {params.selection:q} > {log:q} 2>&1"


rule write_verdicts:
    """The verdicts as a page for a person: what they rest on, when to draft, the controls."""
    input:
        verdicts="results/{study}/verdicts.json",
        tables=tables("verdicts", "intervals", "operator", "identity"),
        checks="results/{study}/checks.json",
        code=code("write-verdicts"),
    output:
        "results/{study}/verdicts.md",
    log:
        "results/{study}/logs/write_verdicts.log",
    benchmark:
        "results/{study}/benchmarks/write_verdicts.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folder=lambda wildcards: f"results/{wildcards.study}",
    message:
        "Write the verdicts of study {wildcards.study} for a reader"
    shell:
        "python -m draftlaw write-verdicts --folder {params.folder:q} --out {output:q}"
        " > {log:q} 2>&1"
