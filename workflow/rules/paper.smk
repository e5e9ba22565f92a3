# The paper: a macro for every number of a study, and the text that prints them.


rule write_values:
    """Every number of a study as a LaTeX macro, and the rows of the paper's tables."""
    input:
        tables=tables(
            "accepted",
            "hazards",
            "entropy",
            "step_costs",
            "cost_fits",
            "class_times",
            "kappas",
            "law",
            "law_errors",
            "mismatch_predictors",
            "crossings",
            "savings",
            "turns",
            "verdicts",
            "intervals",
            "operator",
            "identity",
        ),
        verdicts="results/{study}/verdicts.json",
        code=code("write-values"),
    output:
        directory("results/{study}/paper"),
    log:
        "results/{study}/logs/write_values.log",
    benchmark:
        "results/{study}/benchmarks/write_values.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        folder=lambda wildcards: f"results/{wildcards.study}",
        title=lambda wildcards: study(wildcards).title,
        evidence=grade,
    message:
        "Write the numbers of study {wildcards.study} for the paper"
    shell:
        "python -m draftlaw write-values --study {wildcards.study} --title {params.title:q}"
        " --evidence {params.evidence:q} --folder {params.folder:q} --out {output:q}"
        " > {log:q} 2>&1"


rule build_paper:
    """The paper as PDF, with a section on this study and on those that the configuration names."""
    input:
        text=["paper/main.tex", "paper/study.tex", "paper/references.bib"],
        values="results/{study}/paper",
        figures="results/{study}/figures",
        analytical="results/analytical/figures",
        code=code("build-paper"),
    output:
        "results/{study}/paper.pdf",
    log:
        "results/{study}/logs/build_paper.log",
    benchmark:
        "results/{study}/benchmarks/build_paper.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        text=lambda wildcards, input: Path(input.text[0]).parent,
        studies=lambda wildcards: repeated("study", paper_studies(wildcards)),
        others=others_that_ran,  # not in the command: builds again when one has run
    message:
        "Build the paper of study {wildcards.study}"
    shell:
        "python -m draftlaw build-paper --paper {params.text:q} {params.studies}"
        " --results results --out {output:q} > {log:q} 2>&1"


rule publish_paper:
    """The paper of the study that the configuration names, where a reader looks for it."""
    input:
        f"results/{CONFIG.study}/paper.pdf",
    output:
        "paper/paper.pdf",
    log:
        f"results/{CONFIG.study}/logs/publish_paper.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=100,
        runtime=5,
    message:
        "Put the paper into paper/"
    shell:
        "cp {input:q} {output:q} > {log:q} 2>&1"
