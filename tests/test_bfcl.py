"""BFCL requests and trajectories, against the wheel itself."""

from __future__ import annotations

import copy
import decimal
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import xgrammar
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conftest import REPO
from draftlaw.errors import DraftLawError
from draftlaw.prompts import bfcl_multi_turn
from draftlaw.prompts.bfcl import json_schema, read_jsonl, single_turn
from draftlaw.prompts.bfcl_multi_turn import RESULT_CHARACTERS, trajectories
from draftlaw.prompts.record import Prompt

VERSION = "2026.3.23"

REQUESTS = {
    "simple_python": 400,
    "multiple": 200,
    "parallel": 200,
    "parallel_multiple": 200,
    "live_simple": 258,
    "live_multiple": 1053,
    "live_parallel": 16,
    "live_parallel_multiple": 24,
    "simple_java": 100,
    "simple_javascript": 50,
    "irrelevance": 240,
    "live_irrelevance": 884,
}
CALLS = {
    "parallel": 540,
    "parallel_multiple": 607,
    "live_parallel": 39,
    "live_parallel_multiple": 55,
}
# BFCL's Java and JavaScript answers name variables ("userMap") where objects are asked for.
SOURCE_CODE = {"simple_java": 0.85, "simple_javascript": 0.8}


@pytest.fixture(scope="session")
def requests(bfcl_wheel: Path) -> dict[str, list[Prompt]]:
    return {name: single_turn(bfcl_wheel, VERSION, [name]) for name in REQUESTS}


@pytest.fixture(scope="session")
def replayed(bfcl_wheel: Path) -> dict[str, list[Prompt]]:
    """All assistant turns, by trajectory."""
    clusters = defaultdict(list)
    for prompt in trajectories(bfcl_wheel, VERSION, turns=99, distractors=5, seed=11):
        clusters[prompt.cluster].append(prompt)
    return dict(clusters)


@pytest.fixture(scope="session")
def rows(bfcl_wheel: Path) -> dict[str, dict[str, Any]]:
    rows = read_jsonl(bfcl_wheel, "bfcl_eval/data/BFCL_v4_multi_turn_base.json")
    return {row["id"]: row for row in rows}


@pytest.fixture(scope="session")
def recorded(bfcl_wheel: Path) -> dict[str, list[list[str]]]:
    member = "bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json"
    return {row["id"]: row["ground_truth"] for row in read_jsonl(bfcl_wheel, member)}


def write_wheel(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def jsonl(rows: Iterable[Any]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def schemas(prompts: Iterable[Prompt]) -> list[str]:
    return sorted({json.dumps(tool.parameters) for prompt in prompts for tool in prompt.tools})


# --- schemas -------------------------------------------------------------------------------


def test_schema_translates_types_and_drops_what_is_no_json_schema() -> None:
    document = {
        "type": "dict",
        "required": ["when", "ghost"],
        "optional": ["tags"],
        "properties": {
            "when": {"type": "float", "description": "Hours.", "optional": True, "default": 1.5},
            "tags": {"type": "array", "enum": ["a", "b"]},
            "point": {"type": "tuple", "items": {"type": "long"}},
            "adults": {"type": "integer", "enum": ["1", "dontcare"]},
            "map": {"type": "HashMap"},
            "what": {"type": "any"},
            "deep": {"type": "dict", "properties": {"x": {"type": "Boolean"}}},
        },
    }
    assert json_schema(document) == {
        "type": "object",
        "required": ["when"],
        "additionalProperties": False,
        "properties": {
            "when": {"type": "number", "description": "Hours.", "default": 1.5},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "point": {"type": "array", "items": {"type": "integer"}},
            "adults": {"enum": ["1", "dontcare"]},
            "map": {"type": "object"},
            "what": {"type": "string"},
            "deep": {
                "type": "object",
                "properties": {"x": {"type": "boolean"}},
                "required": [],
                "additionalProperties": False,
            },
        },
    }


def test_an_unknown_type_is_named() -> None:
    with pytest.raises(DraftLawError, match="unknown BFCL parameter type 'Quaternion'"):
        json_schema({"type": "dict", "properties": {"q": {"type": "Quaternion"}}})


SCALARS = st.sampled_from(["float", "String", "any", "boolean", "long", "char", ""])
DOCUMENTS = st.recursive(
    st.fixed_dictionaries({"type": SCALARS}, optional={"enum": st.lists(st.text(), min_size=1)}),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("ArrayList")}, optional={"items": inner}),
        st.fixed_dictionaries(
            {"type": st.sampled_from(["dict", "HashMap"])},
            optional={
                "properties": st.dictionaries(st.text(min_size=1), inner),
                "required": st.lists(st.text()),
            },
        ),
    ),
    max_leaves=8,
)


@given(DOCUMENTS)
@settings(max_examples=60, deadline=None)
def test_any_document_gives_a_valid_schema_and_stays_as_it_was(document: dict[str, Any]) -> None:
    before = copy.deepcopy(document)
    schema = json_schema(document)
    Draft202012Validator.check_schema(schema)
    assert document == before
    assert set(schema.get("required", [])) <= set(schema.get("properties", {}))


def test_every_schema_is_valid(
    requests: dict[str, list[Prompt]], replayed: dict[str, list[Prompt]]
) -> None:
    every = schemas(
        prompt for group in [*requests.values(), *replayed.values()] for prompt in group
    )
    assert len(every) > 3000
    for schema in every:
        Draft202012Validator.check_schema(json.loads(schema))
        assert json.loads(schema)["type"] == "object"


def test_xgrammar_compiles_a_sample_of_the_schemas(
    requests: dict[str, list[Prompt]], replayed: dict[str, list[Prompt]]
) -> None:
    rng = random.Random(4)
    pools = [schemas(group) for group in requests.values()]
    pools.append(schemas(prompt for group in replayed.values() for prompt in group))
    sample = [schema for pool in pools for schema in rng.sample(pool, min(5, len(pool)))]
    assert len(sample) >= 60
    for schema in sample:
        xgrammar.Grammar.from_json_schema(schema)


# --- single turns --------------------------------------------------------------------------


@pytest.mark.parametrize("category", REQUESTS)
def test_requests_of_a_category(requests: dict[str, list[Prompt]], category: str) -> None:
    prompts = requests[category]
    assert len({prompt.id for prompt in prompts}) == len(prompts) == REQUESTS[category]
    for prompt in prompts:
        assert (prompt.cluster, prompt.turn) == (prompt.id, 0)
        assert prompt.source == f"bfcl-eval {VERSION} {category}"
        assert prompt.licence == "Apache-2.0"
        assert prompt.messages[-1]["role"] == "user"
        names = [tool.name for tool in prompt.tools]
        assert len(set(names)) == len(names)
        if "irrelevance" in category:
            assert (prompt.parts, prompt.ground_truth) == (("reply",), None)
        else:
            assert prompt.parts == ("call",) * len(prompt.ground_truth)
            assert {name for call in prompt.ground_truth for name in call} <= set(names)
    if "irrelevance" not in category:
        expected = CALLS.get(category, REQUESTS[category])
        assert sum(len(prompt.parts) for prompt in prompts) == expected


def test_system_messages_and_order_are_kept(
    bfcl_wheel: Path, requests: dict[str, list[Prompt]]
) -> None:
    systems = [p for p in requests["live_simple"] if p.messages[0]["role"] == "system"]
    assert len(systems) == 11
    both = single_turn(bfcl_wheel, VERSION, ["simple_java", "live_simple"])
    assert both == requests["simple_java"] + requests["live_simple"]


def first_allowed(arguments: dict[str, list[Any]]) -> dict[str, Any]:
    """The first answer BFCL allows, where "" stands for an argument left out."""
    return {
        name: plain(values[0]) for name, values in arguments.items() if values and values[0] != ""
    }


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        lists = {key: item if isinstance(item, list) else [item] for key, item in value.items()}
        return first_allowed(lists)
    return [plain(item) for item in value] if isinstance(value, list) else value


def fitting_share(prompts: list[Prompt]) -> float:
    fits = []
    for prompt in prompts:
        offered = {tool.name: tool.parameters for tool in prompt.tools}
        for call in prompt.ground_truth:
            ((name, arguments),) = call.items()
            fits.append(Draft202012Validator(offered[name]).is_valid(first_allowed(arguments)))
    return sum(fits) / len(fits)


@pytest.mark.parametrize("category", [name for name in REQUESTS if "irrelevance" not in name])
def test_ground_truth_fits_the_schemas(requests: dict[str, list[Prompt]], category: str) -> None:
    prompts = requests[category]
    sample = random.Random(7).sample(prompts, min(200, len(prompts)))
    assert fitting_share(sample) >= SOURCE_CODE.get(category, 0.95)


# --- trajectories --------------------------------------------------------------------------


def test_counts_of_the_replay(replayed: dict[str, list[Prompt]]) -> None:
    prompts = [prompt for group in replayed.values() for prompt in group]
    assert (len(replayed), len(prompts)) == (200, 1725)
    assert Counter(prompt.parts for prompt in prompts) == {
        ("reply",): 734,
        ("think", "call"): 731,
        ("call",): 157,
        ("call",) * 2: 69,
        ("call",) * 3: 20,
        ("call",) * 4: 14,
    }


def test_turns_are_numbered_and_named(replayed: dict[str, list[Prompt]]) -> None:
    for cluster, prompts in replayed.items():
        assert [prompt.turn for prompt in prompts] == list(range(len(prompts)))
        for prompt in prompts:
            assert prompt.id == f"{cluster}/t{prompt.turn}"
            assert prompt.source == f"bfcl-eval {VERSION} multi_turn_base"


def test_parts_match_the_recorded_calls(
    replayed: dict[str, list[Prompt]], recorded: dict[str, list[list[str]]]
) -> None:
    for cluster, prompts in replayed.items():
        counts = []
        for prompt in prompts:
            if prompt.parts == ("reply",):
                assert prompt.ground_truth is None
                counts.append(0)
                continue
            assert prompt.parts.count("call") == len(prompt.ground_truth) <= 4
            counts.append(len(prompt.ground_truth))
        expected = []
        for calls in recorded[cluster]:
            rest = len(calls) - 1
            expected += [1] * (rest >= 0) + [min(4, rest - i) for i in range(0, rest, 4)] + [0]
        assert counts == expected


def test_a_user_turn_of_seven_calls_is_capped(
    replayed: dict[str, list[Prompt]], recorded: dict[str, list[list[str]]]
) -> None:
    longest = [name for name, turns in recorded.items() if len(turns[0]) == 7]
    assert longest
    for name in longest:
        shapes = [prompt.parts for prompt in replayed[name][:4]]
        assert shapes == [("think", "call"), ("call",) * 4, ("call",) * 2, ("reply",)]


def test_the_context_grows_by_the_recorded_turn(replayed: dict[str, list[Prompt]]) -> None:
    for prompts in replayed.values():
        assert [message["role"] for message in prompts[0].messages] == ["user"]
        for before, after in pairwise(prompts):
            size = len(before.messages)
            assert after.messages[:size] == before.messages
            new = after.messages[size:]
            if before.parts == ("reply",):
                assert [message["role"] for message in new] == ["user"]
                continue
            calls = [call["function"] for call in new[0]["tool_calls"]]
            assert (new[0]["role"], new[0]["content"]) == ("assistant", "")
            assert calls == before.ground_truth
            assert [(m["role"], m["name"]) for m in new[1:]] == [("tool", c["name"]) for c in calls]


def test_thinking_follows_the_user_and_nothing_else(replayed: dict[str, list[Prompt]]) -> None:
    uncalled = 0
    for prompt in (prompt for group in replayed.values() for prompt in group):
        after_user = prompt.messages[-1]["role"] == "user"
        if after_user and prompt.parts == ("reply",):
            uncalled += 1
        else:
            assert after_user == (prompt.parts[0] == "think")
    assert uncalled == 3  # user turns for which BFCL records no call


def test_the_context_holds_what_the_apis_returned(replayed: dict[str, list[Prompt]]) -> None:
    results = [m for m in replayed["multi_turn_base_0"][-1].messages if m["role"] == "tool"]
    report = (
        "Year2024 This is the final report content including budget analysis and other sections."
    )
    assert [(m["name"], json.loads(m["content"])) for m in results[:6]] == [
        ("cd", {"current_working_directory": "document"}),
        ("mkdir", None),
        ("mv", {"result": "'final_report.pdf' moved to 'temp/final_report.pdf'"}),
        ("cd", {"current_working_directory": "temp"}),
        ("grep", {"matching_lines": [report]}),
        ("sort", {"sorted_content": report}),
    ]


def test_results_are_those_of_bfcls_own_executor(
    bfcl_wheel: Path,
    replayed: dict[str, list[Prompt]],
    rows: dict[str, dict[str, Any]],
    recorded: dict[str, list[list[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(bfcl_wheel))
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils

    compared = truncated = 0
    for name, row in rows.items():
        calls = [call for turn in recorded[name] for call in turn]
        theirs, _ = multi_turn_utils.execute_multi_turn_func_call(
            calls, row["initial_config"], row["involved_classes"], "oracle", name
        )
        ours = [m["content"] for m in replayed[name][-1].messages if m["role"] == "tool"]
        for mine, their in zip(ours, theirs, strict=True):
            compared += 1
            if "... [truncated: " in mine:
                truncated += 1
                assert json.dumps(json.loads(their), ensure_ascii=False)[:RESULT_CHARACTERS] in mine
            else:
                # Where a result is no JSON, BFCL shows Python's form: "{'result': mpf('2.0')}".
                quoted = re.sub(r"mpf\('.*?'\)", r'"\g<0>"', their)
                assert quoted in (json.dumps(json.loads(mine)), str(json.loads(mine)))
    assert (compared, truncated) == (1142, 7)


def test_long_results_say_that_they_were_cut(replayed: dict[str, list[Prompt]]) -> None:
    messages = [m for group in replayed.values() for m in group[-1].messages if m["role"] == "tool"]
    cut = [m["content"] for m in messages if len(m["content"]) > RESULT_CHARACTERS]
    assert cut
    for content in cut:
        marker = content[RESULT_CHARACTERS:]
        assert marker.startswith("... [truncated: ") and marker.endswith(" characters in all]")
        assert int(marker.split()[2]) > RESULT_CHARACTERS


def test_an_exception_of_the_simulation_becomes_the_result() -> None:
    class Api:
        def fail(self) -> None:
            raise KeyError("no such seat")

    result = bfcl_multi_turn._result(bfcl_multi_turn._Call("fail", {}), [Api()])
    assert json.loads(result) == {"error": "Error during execution: 'no such seat'"}


def test_positional_arguments_get_their_names(
    replayed: dict[str, list[Prompt]], recorded: dict[str, list[list[str]]]
) -> None:
    assert recorded["multi_turn_base_0"][2] == ["sort('final_report.pdf')"]
    calls = [call for p in replayed["multi_turn_base_0"] for call in p.ground_truth or []]
    assert {"name": "sort", "arguments": {"file_name": "final_report.pdf"}} in calls


def test_recorded_calls_fit_the_offered_schemas(replayed: dict[str, list[Prompt]]) -> None:
    fits = []
    for prompt in (prompt for group in replayed.values() for prompt in group):
        offered = {tool.name: tool.parameters for tool in prompt.tools}
        for call in prompt.ground_truth or []:
            fits.append(Draft202012Validator(offered[call["name"]]).is_valid(call["arguments"]))
    assert len(fits) == 1142
    assert sum(fits) / len(fits) >= 0.99


@pytest.mark.parametrize("distractors", [0, 4, 99])
def test_offered_tools(bfcl_wheel: Path, rows: dict[str, dict[str, Any]], distractors: int) -> None:
    everything = {
        name: {entry["name"] for entry in read_jsonl(bfcl_wheel, member)}
        for name, member in (
            (name, f"bfcl_eval/data/multi_turn_func_doc/{module}.json")
            for name, module in bfcl_multi_turn._MODULES.items()
        )
    }
    prompts = trajectories(bfcl_wheel, VERSION, turns=6, distractors=distractors, seed=3)
    called = defaultdict(set)
    for prompt in prompts:
        called[prompt.cluster] |= {call["name"] for call in prompt.ground_truth or []}
    for prompt in prompts:
        names = [tool.name for tool in prompt.tools]
        row = rows[prompt.cluster]
        available = set().union(*(everything[name] for name in row["involved_classes"]))
        spare = available - called[prompt.cluster] - set(row.get("excluded_function", []))
        assert len(set(names)) == len(names)
        assert called[prompt.cluster] <= set(names)
        assert set(names) - called[prompt.cluster] <= spare
        assert len(names) == len(called[prompt.cluster]) + min(distractors, len(spare))


def test_tools_are_shuffled_by_trajectory_and_seed(
    bfcl_wheel: Path, replayed: dict[str, list[Prompt]]
) -> None:
    def orders(seed: int) -> list[list[str]]:
        prompts = trajectories(bfcl_wheel, VERSION, turns=1, distractors=5, seed=seed)
        return [[tool.name for tool in prompt.tools] for prompt in prompts]

    assert orders(1) == orders(1)
    assert orders(1) != orders(2)
    first_is_called = [
        any(call["name"] == group[0].tools[0].name for p in group for call in p.ground_truth or [])
        for group in replayed.values()
    ]
    assert 0.2 < sum(first_is_called) / len(first_is_called) < 0.8


def test_descriptions_drop_the_preamble(replayed: dict[str, list[Prompt]]) -> None:
    tools = [tool for group in replayed.values() for tool in group[0].tools]
    assert all(tool.description and "Tool description" not in tool.description for tool in tools)
    assert not any(tool.description.startswith("This tool belongs") for tool in tools)
    assert {t.description for t in tools if t.name == "mean"} == {
        "Calculate the mean of a list of numbers."
    }


def test_a_limit_of_turns_keeps_the_start(
    bfcl_wheel: Path, replayed: dict[str, list[Prompt]]
) -> None:
    short = trajectories(bfcl_wheel, VERSION, turns=4, distractors=5, seed=11)
    for prompt in short:
        whole = replayed[prompt.cluster][prompt.turn]
        assert (prompt.messages, prompt.parts) == (whole.messages, whole.parts)
    assert len(short) == sum(min(4, len(group)) for group in replayed.values())


def test_the_simulation_is_silent(bfcl_wheel: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trajectories(bfcl_wheel, VERSION, turns=99, distractors=0, seed=0)
    assert capfd.readouterr() == ("", "")


def test_the_simulated_clock_stands_still(bfcl_wheel: Path) -> None:
    api = bfcl_multi_turn._api_class(bfcl_wheel, "TravelAPI")()
    api._load_scenario({"user_first_name": "Ann", "user_last_name": "Li"})

    def of_age(birth: str) -> bool:
        verdict = api.verify_traveler_information("Ann", "Li", birth, "US123")
        return bool(verdict["verification_status"])

    assert (of_age("2006-09-01"), of_age("2006-09-02")) == (True, False)


def test_the_decimal_precision_of_the_process_is_left_alone(bfcl_wheel: Path) -> None:
    api = bfcl_multi_turn._api_class(bfcl_wheel, "MathAPI")()
    before = decimal.getcontext().prec
    call = bfcl_multi_turn._Call("square_root", {"number": 2, "precision": 3})
    assert json.loads(bfcl_multi_turn._result(call, [api])) == {"result": "Decimal('1.41')"}
    assert decimal.getcontext().prec == before


def test_prompts_do_not_share_their_messages(bfcl_wheel: Path) -> None:
    first, second = trajectories(bfcl_wheel, VERSION, turns=2, distractors=0, seed=0)[:2]
    second.messages[0]["content"] = "changed"
    second.messages[1]["tool_calls"][0]["function"]["arguments"]["folder"] = "changed"
    assert first.messages[0]["content"] != "changed"
    assert first.ground_truth[0]["arguments"] == {"folder": "document"}


def test_the_replay_is_the_same_in_every_process(bfcl_wheel: Path) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from draftlaw.prompts.bfcl_multi_turn import trajectories;"
        "print(trajectories(Path(sys.argv[1]), 'v', turns=99, distractors=5, seed=2))"
    )
    digests = []
    for hash_seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo")):
        settings = {"PYTHONHASHSEED": hash_seed, "TZ": zone, "PYTHONPATH": str(REPO / "workflow")}
        output = subprocess.run(
            [sys.executable, "-c", program, str(bfcl_wheel)],
            env=os.environ | settings,
            capture_output=True,
            check=True,
        ).stdout
        assert len(output) > 1_000_000
        digests.append(hashlib.sha256(output).hexdigest())
    assert digests[0] == digests[1]


# --- unreadable wheels ---------------------------------------------------------------------

MEMBER = "bfcl_eval/data/BFCL_v4_irrelevance.json"


@pytest.mark.parametrize("content", [None, b"this is no archive"])
def test_a_bad_wheel_is_named(tmp_path: Path, content: bytes | None) -> None:
    wheel = tmp_path / "bad.whl"
    if content is not None:
        wheel.write_bytes(content)
    with pytest.raises(DraftLawError, match=rf"bad\.whl: cannot read {MEMBER}"):
        single_turn(wheel, VERSION, ["irrelevance"])


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "thin.whl", {"other": ""})
    with pytest.raises(DraftLawError, match=rf"thin\.whl: cannot read {MEMBER}"):
        single_turn(wheel, VERSION, ["irrelevance"])


@pytest.mark.parametrize(
    ("line", "reason"), [('{"id": ', "not JSON"), ("[1]", "not a JSON object")]
)
def test_a_bad_line_is_numbered(tmp_path: Path, line: str, reason: str) -> None:
    good = {"id": "a", "question": [[]], "function": []}
    wheel = write_wheel(tmp_path / "torn.whl", {MEMBER: f"{json.dumps(good)}\n\n{line}\n"})
    with pytest.raises(DraftLawError, match=rf"torn\.whl: {MEMBER} line 3: {reason}"):
        single_turn(wheel, VERSION, ["irrelevance"])


def test_a_request_without_answer_is_named(tmp_path: Path) -> None:
    row = {"id": "multiple_7", "question": [[]], "function": []}
    members = {
        "bfcl_eval/data/BFCL_v4_multiple.json": jsonl([row]),
        "bfcl_eval/data/possible_answer/BFCL_v4_multiple.json": "",
    }
    wheel = write_wheel(tmp_path / "mute.whl", members)
    with pytest.raises(DraftLawError, match="no ground truth for multiple_7"):
        single_turn(wheel, VERSION, ["multiple"])


def multi_turn_wheel(path: Path, original: Path, question: list[Any], truth: list[Any]) -> Path:
    """A wheel with the real function documents and one trajectory."""
    row = {
        "id": "one",
        "question": question,
        "initial_config": {},
        "involved_classes": ["GorillaFileSystem"],
    }
    members = {
        "bfcl_eval/data/BFCL_v4_multi_turn_base.json": jsonl([row]),
        "bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json": jsonl(
            [{"id": "one", "ground_truth": truth}]
        ),
    }
    for module in bfcl_multi_turn._MODULES.values():
        member = f"bfcl_eval/data/multi_turn_func_doc/{module}.json"
        members[member] = jsonl(read_jsonl(original, member))
    return write_wheel(path, members)


ASK = [{"role": "user", "content": "Please."}]


@pytest.mark.parametrize(
    "call",
    [
        "sort(",
        "sort",
        "fs.sort('a')",
        "unknown('a')",
        "sort(name)",
        "sort('a', 'b')",
        "sort('a', file_name='b')",
        "sort(colour='b')",
        "sort(**{'file_name': 'a'})",
    ],
)
def test_an_unreadable_call_is_named(tmp_path: Path, bfcl_wheel: Path, call: str) -> None:
    wheel = multi_turn_wheel(tmp_path / "odd.whl", bfcl_wheel, [ASK], [[call]])
    with pytest.raises(DraftLawError, match="one: cannot read the call") as caught:
        trajectories(wheel, VERSION, turns=3, distractors=0, seed=0)
    assert repr(call) in str(caught.value)


@pytest.mark.parametrize(("question", "truth"), [([ASK, []], [[], []]), ([ASK], [[], []])])
def test_a_user_turn_without_message_is_refused(
    tmp_path: Path, bfcl_wheel: Path, question: list[Any], truth: list[Any]
) -> None:
    wheel = multi_turn_wheel(tmp_path / "gap.whl", bfcl_wheel, question, truth)
    with pytest.raises(DraftLawError, match="one: every user turn needs"):
        trajectories(wheel, VERSION, turns=3, distractors=0, seed=0)


def test_apis_of_another_wheel_are_not_used_unseen(tmp_path: Path, bfcl_wheel: Path) -> None:
    trajectories(bfcl_wheel, VERSION, turns=1, distractors=0, seed=0)
    wheel = multi_turn_wheel(tmp_path / "other.whl", bfcl_wheel, [ASK], [["sort('a')"]])
    with pytest.raises(DraftLawError, match="already imported from"):
        trajectories(wheel, VERSION, turns=3, distractors=0, seed=0)
