"""``--llm``, ``--embedder`` and ``--thread`` on the command line."""

import json

from holdfast.stores import open_store


def test_a_model_writes_the_summary_and_what_it_took_is_told(run, talk):
    text = "They read a file and found nothing wrong with it."
    ran = run("compress", "chat.json", "-b", "150", "--strategy", "summarizing", "--strategy",
     "trim",
              "--llm", f"scripted:{text}", "-o", "-")  # fmt: skip
    assert ran.code == 0, ran.err
    assert text in json.dumps(ran.json)
    assert "Models: 1 request," in ran.err


def test_the_facts_for_programs_hold_every_call(run, talk):
    ran = run("compress", "chat.json", "-b", "150", "--strategy", "summarizing", "--strategy",
     "trim",
              "--llm", "scripted:", "--json", "-o", "out.json")  # fmt: skip
    assert ran.code == 0, ran.err
    assert [call["model"] for call in ran.json["model_usage"]["calls"]] == ["scripted"]


def test_summaries_are_kept_under_the_thread(run, talk, folder):
    run("compress", "chat.json", "-b", "150", "--strategy", "summarizing", "--strategy", "trim",
        "--llm", "extractive", "--thread", "t-7", "--store", "sqlite:///kept.db", "-o",
         "out.json")  # fmt: skip
    assert list(open_store("sqlite:///kept.db").keys("thread_t-7:summary:"))


def test_a_model_or_embedder_that_nobody_knows_is_told_with_those_that_are_known(run, talk):
    told = run("compress", "chat.json", "-b", "150", "--llm", "nobody:x").complaint
    assert told.startswith("--llm: 'nobody:x' names no model vendor")
    assert "known are anthropic, extractive, gemini, openai, scripted" in told
    assert "lexical" in run("compress", "chat.json", "-b", "150", "--embedder", "nobody").complaint


def test_a_key_that_is_missing_is_told(run, talk, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    told = run(
        "compress", "chat.json", "-b", "150", "--strategy", "summarizing", "--llm", "openai:gpt-4o"
    ).complaint
    assert "set OPENAI_API_KEY" in told


def test_a_model_that_no_step_asks_is_told_with_the_profile_that_asks_it(run, talk):
    told = "No step asked the model of --llm; --profile quality has one that does."
    for profile, is_told in (("balanced", True), ("quality", False)):
        given = ["compress", "chat.json", "--budget", "500", "--llm", "extractive"]
        assert (told in run(*given, "--profile", profile).err) == is_told
    assert told not in run("compress", "chat.json", "--budget", "9k", "--llm", "extractive").err
