"""vLLM, driven step by step so that every decode round gets its counts and its wall time.

The only module that imports vLLM. With `per_request_spec_decode_metrics="detailed"` the engine
lists, for each request, the tokens drafted and accepted in every verification; driving its `step()`
by hand gives the wall time of each step. A request has one step output for its prefill and then
one for each round. A round in which the grammar refused the whole draft is not in those lists.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from draftlaw.conditions import EngineConditions
from draftlaw.errors import DraftLawError
from draftlaw.rounds import Outcome, Request, Step

GRAMMAR_POLL_SECONDS = 0.002
GIB = 2**30
WARM_UP_PROMPT = 16
WARM_UP_OUTPUT = 4


def environment(conditions: EngineConditions) -> dict[str, str]:
    """The environment variables that decide how vLLM runs; the same for every cell.

    Setting a draft model can silently switch the model runner and asynchronous scheduling, so the
    runner is pinned here and the scheduler in `Engine`.
    """
    variables = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_USE_V2_MODEL_RUNNER": "0",
        "VLLM_BATCH_INVARIANT": str(int(conditions.batch_invariant)),
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if conditions.device == "cpu":
        variables["OMP_NUM_THREADS"] = str(conditions.threads)
    if conditions.preload is not None:
        variables["LD_PRELOAD"] = str(_library(conditions.preload))
    return variables


def enter(conditions: EngineConditions) -> None:
    """Make this process run under `environment(conditions)`, starting it anew if it does not.

    Call it first: libraries read these variables when they load.
    """
    wanted = environment(conditions)
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        command = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **wanted})


def _library(name: str) -> Path:
    path = Path(sys.prefix) / "lib" / name
    if not path.exists():
        raise DraftLawError(
            f"engine.preload: {name} is not in {path.parent}",
            "Install the package that brings it, or set preload to null",
        )
    return path


def engine_options(
    target: Path, draft: Path | None, depth: int, conditions: EngineConditions, max_batch: int
) -> dict[str, Any]:
    """How vLLM's `LLM` is told to run; arguments as for `Engine`."""
    options: dict[str, Any] = {
        "model": str(target),
        "dtype": conditions.dtype,
        "seed": conditions.seed,
        "enforce_eager": conditions.eager,
        "max_model_len": conditions.max_model_len,
        "max_num_batched_tokens": conditions.max_batched_tokens,
        "max_num_seqs": max_batch,
        "async_scheduling": False,
        "enable_prefix_caching": False,
        "structured_outputs_config": {"backend": "xgrammar"},
    }
    if conditions.device == "cpu":
        options["kv_cache_memory_bytes"] = int(conditions.kv_cache_gib * GIB)
    else:
        options["gpu_memory_utilization"] = conditions.memory_utilization
    if conditions.attention_backend is not None:
        options["attention_backend"] = conditions.attention_backend
    if depth > 0:
        options["speculative_config"] = {
            "method": "draft_model",
            "model": str(draft),
            "num_speculative_tokens": depth,
        }
    return options


def _import_llm() -> Any:
    """The entry point of vLLM; it must see the environment of `enter`.

    Its modules make millions of objects that live as long as the process: nothing is collected
    while they load, and the collections that the engine asks for afterwards pass them over.
    """
    gc.disable()
    from vllm import LLM

    gc.enable()
    gc.freeze()
    return LLM


class Engine:
    """A vLLM engine over a target and, at depth > 0, its draft.

    Args:
        target: folder of the target's checkpoint.
        draft: folder of the draft's checkpoint; None at depth 0.
        depth: draft tokens per round, gamma; 0 is the baseline.
        conditions: how to run.
        max_batch: the most requests it will be given at once.
    """

    def __init__(
        self,
        target: Path,
        draft: Path | None,
        depth: int,
        conditions: EngineConditions,
        max_batch: int,
    ) -> None:
        entry_point = _import_llm()
        options = engine_options(target, draft, depth, conditions, max_batch)
        if depth > 0:
            options["per_request_spec_decode_metrics"] = "detailed"
        self.depth = depth
        self._llm = entry_point(**options, disable_log_stats=False)
        self._engine = self._llm.llm_engine
        self._core = self._engine.engine_core.engine_core
        self._steps = 0
        self._draft_timer = DraftTimer(conditions.device)
        if depth > 0:
            self._draft_timer.attach(self._runner.drafter)

    @property
    def _runner(self) -> Any:
        return self._core.model_executor.driver_worker.worker.model_runner

    @property
    def tokenizer(self) -> Any:
        """The target's tokenizer, as the engine uses it."""
        return self._llm.get_tokenizer()

    @property
    def vocab_size(self) -> int:
        """Width of the target's logits."""
        return int(self._engine.vllm_config.model_config.get_vocab_size())

    def run_waves(
        self, requests: Sequence[Request], batch: int, max_tokens: int
    ) -> Iterator[list[Outcome]]:
        """Generate greedily, `batch` requests at a time; each wave ends before the next begins.

        Args:
            requests: in the order in which they are run.
            batch: requests of a wave (the last may have fewer).
            max_tokens: longest output.

        Yields:
            The outcomes of one wave, in the order of its requests.
        """
        for first in range(0, len(requests), batch):
            yield self._run_wave(requests[first : first + batch], max_tokens)

    def _run_wave(self, requests: Sequence[Request], max_tokens: int) -> list[Outcome]:
        for request in requests:
            prompt = {"prompt_token_ids": list(request.prompt_ids)}
            self._engine.add_request(request.id, prompt, _sampling(request, max_tokens))
        scheduled = list(self._core.scheduler.requests.values())  # in the order they were added
        _await_grammars(scheduled)
        outcomes = {request.id: Outcome(request.id) for request in requests}
        counts = {
            request.id: inside.spec_decode_metrics
            for request, inside in zip(requests, scheduled, strict=True)
        }
        while self._engine.has_unfinished_requests():
            self._step(outcomes, counts)
        for name, outcome in outcomes.items():
            _check(outcome, counts[name])
        return list(outcomes.values())

    def _step(self, outcomes: dict[str, Outcome], counts: dict[str, Any]) -> None:
        live = [outcome for outcome in outcomes.values() if not outcome.finish]
        prefill = any(not outcome.steps for outcome in live)
        begin = time.perf_counter()
        outputs = self._engine.step()
        seconds = time.perf_counter() - begin
        draft_seconds = self._draft_timer.take()
        for outcome in live:
            if not outcome.steps:
                outcome.prefill_seconds += seconds
        for output in outputs:
            _record(
                outcomes[output.request_id],
                output,
                counts[output.request_id],
                Step(
                    index=self._steps,
                    seconds=seconds,
                    draft_seconds=draft_seconds,
                    requests=len(live),
                    prefill=prefill,
                    tokens=len(output.outputs[0].token_ids),
                ),
            )
        self._steps += 1

    def counters(self) -> dict[str, int]:
        """The engine's own counts since its start: drafts, draft tokens, accepted tokens."""
        prefix = "vllm:spec_decode_num_"
        return {
            metric.name.removeprefix(prefix): int(metric.value)
            for metric in self._llm.get_metrics()
            if metric.name.startswith(prefix) and hasattr(metric, "value")
        }

    def active_conditions(self) -> dict[str, Any]:
        """What is really active, read from the running engine, for target and draft alike."""
        config = self._engine.vllm_config
        runner = self._runner
        layers = config.compilation_config.static_forward_context.values()
        backends = sorted({type(layer.impl).__name__ for layer in layers if hasattr(layer, "impl")})
        import torch
        import vllm

        return {
            "vllm": vllm.__version__,
            "torch": torch.__version__,
            "model_runner": type(runner).__module__ + "." + type(runner).__name__,
            "scheduler": type(self._core.scheduler).__name__,
            "async_scheduling": bool(config.scheduler_config.async_scheduling),
            "chunked_prefill": bool(config.scheduler_config.enable_chunked_prefill),
            "max_batched_tokens": int(config.scheduler_config.max_num_batched_tokens),
            "prefix_caching": bool(config.cache_config.enable_prefix_caching),
            "attention_backends": backends,
            "dtype": str(config.model_config.dtype),
            "kv_cache_dtype": str(config.cache_config.cache_dtype),
            "compilation": config.compilation_config.mode.name,
            "cuda_graphs": config.compilation_config.cudagraph_mode.name,
            "threads": torch.get_num_threads(),
            "seed": int(config.model_config.seed),
            "preload": Path(os.environ.get("LD_PRELOAD", "")).name,
        }


class DraftTimer:
    """Seconds that a step spends on the draft's proposals.

    On a GPU the engine only queues that work, so that it is timed between events on the device,
    read when the step is over; elsewhere by the clock.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._spans: list[Callable[[], float]] = []

    def attach(self, drafter: Any) -> None:
        """Time every call of the drafter's `propose`."""
        propose = drafter.propose

        def timed(*arguments: Any, **options: Any) -> Any:
            stop = self._start()
            proposed = propose(*arguments, **options)
            self._spans.append(stop())
            return proposed

        drafter.propose = timed

    def take(self) -> float:
        """Seconds since the last call; waits for the device to finish what was timed."""
        seconds = sum(span() for span in self._spans)
        self._spans.clear()
        return seconds

    def _start(self) -> Callable[[], Callable[[], float]]:
        return _device_span() if self._device == "cuda" else _clock_span()


def _clock_span() -> Callable[[], Callable[[], float]]:
    begin = time.perf_counter()

    def stop() -> Callable[[], float]:
        seconds = time.perf_counter() - begin
        return lambda: seconds

    return stop


def _device_span() -> Callable[[], Callable[[], float]]:
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    begin.record()

    def seconds() -> float:
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1000

    def stop() -> Callable[[], float]:
        end.record()
        return seconds

    return stop


def _sampling(request: Request, max_tokens: int) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    constraint = request.grammar and StructuredOutputsParams(structural_tag=request.grammar)
    return SamplingParams(
        temperature=0,
        max_tokens=max_tokens,
        output_kind=RequestOutputKind.DELTA,
        detokenize=False,
        structured_outputs=constraint,
    )


def _await_grammars(scheduled: Sequence[Any]) -> None:
    """Grammars compile in the background; start the wave when all are ready, not piecemeal."""
    pending = [request.structured_output_request for request in scheduled]
    while not all(request is None or request.is_grammar_ready for request in pending):
        time.sleep(GRAMMAR_POLL_SECONDS)


def _record(outcome: Outcome, output: Any, counts: Any, step: Step) -> None:
    """Add a step to a request; every step but the first is a round.

    Args:
        outcome: what is known of the request so far.
        output: the engine's output of this step.
        counts: the engine's lists of the request's rounds; None at depth 0.
        step: time and company of the step.
    """
    completion = output.outputs[0]
    if outcome.steps:
        drafted, accepted = _last_round(counts, sum(outcome.verified))
        outcome.verified.append(drafted is not None)
        outcome.drafted.append(drafted or 0)
        outcome.accepted.append(accepted or 0)
    outcome.token_ids += [int(token) for token in completion.token_ids]
    outcome.steps.append(step)
    if output.finished:
        outcome.finish = str(completion.finish_reason)
        outcome.cached_tokens = int(output.num_cached_tokens or 0)


def _last_round(counts: Any, known: int) -> tuple[int, int] | tuple[None, None]:
    """Drafted and accepted tokens of the newest round, if the engine verified a draft in it."""
    if counts is None or len(counts.per_step_drafted) == known:
        return None, None
    return int(counts.per_step_drafted[-1]), int(counts.per_step_accepted[-1])


def _check(outcome: Outcome, counts: Any) -> None:
    """A round that was missed or counted twice would shift every later round's time."""
    listed = 0 if counts is None else len(counts.per_step_drafted)
    if listed != sum(outcome.verified):
        raise DraftLawError(
            f"request {outcome.id}: {sum(outcome.verified)} rounds were seen, but the engine lists "
            f"{listed}",
            "This engine version counts differently; do not use its numbers",
        )


def warm_up(engine: Engine, requests: Sequence[Request], batches: Iterable[int]) -> None:
    """Run some rounds of beheaded prompts per batch size; their outcomes are thrown away."""
    short = [
        replace(request, prompt_ids=request.prompt_ids[:WARM_UP_PROMPT]) for request in requests
    ]
    for batch in batches:
        wave = short[:batch]
        for _ in engine.run_waves(wave, len(wave), max_tokens=WARM_UP_OUTPUT):
            pass
