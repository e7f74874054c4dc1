"""Small models of the transformers library, trained within seconds on rows of data sets or on others of our own."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import yaml
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertPreTrainedModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from dynabench.models import encoder
from dynabench.models.words import words
from tests.evaluate import real

SENTIMENT = ("negative", "positive")
MONTHS = "January February March April May June July August September October November December".split()
TAGS = ("O", "B-NUMBER", "I-NUMBER", "B-MONTH", "I-MONTH")


def described(folder: Path, architecture: str, **spec: Any) -> Path:
    """Write the folder's `model.yaml`; `options` are those beside the architecture."""
    options = {"architecture": architecture, **spec.pop("options", {})}
    answer = {"name": folder.name, "task": "any", "kind": "transformers", "licence": "Apache-2.0", "options": options}
    (folder / "model.yaml").write_text(yaml.safe_dump({**answer, **spec}))
    return folder


def tokenizer() -> Any:
    """The encoder's."""
    return AutoTokenizer.from_pretrained(encoder.find())


def shallow(layers: int = 2, **more: Any) -> BertConfig:
    """The encoder's configuration with few layers and no dropout."""
    none = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return BertConfig.from_pretrained(encoder.find(), num_hidden_layers=layers, **none, **more)


def sentiment(folder: Path, count: int = 640, layers: int = 2) -> Path:
    """MiniLM's first layers, fine-tuned for a moment on two-way sentiment."""
    result = [
        row
        for row in real.rows("sst2/train.jsonl.gz", 4000)
        if row["label"] in SENTIMENT and 20 < len(row["text"]) < 60
    ][:count]
    named = {"id2label": dict(enumerate(SENTIMENT)), "label2id": {name: at for at, name in enumerate(SENTIMENT)}}
    read = tokenizer()
    torch.manual_seed(0)
    model = BertForSequenceClassification.from_pretrained(encoder.find(), config=shallow(layers, **named))

    def batches() -> Iterator[dict[str, Any]]:
        for start in range(0, len(result), 32):
            part = result[start : start + 32]
            marks = torch.tensor([SENTIMENT.index(row["label"]) for row in part])
            yield {**read([row["text"] for row in part], padding=True, return_tensors="pt"), "labels": marks}

    trained(model, batches, 7e-4).save_pretrained(folder)
    read.save_pretrained(folder)
    return described(folder, "text-classification", inputs=["text"], answer="label", labels=list(SENTIMENT))


def wide(folder: Path) -> Path:
    """One layer with random weights, so wide that each token takes it 240 kB."""
    torch.manual_seed(0)
    config = shallow(1, intermediate_size=60_000, num_labels=2, id2label=dict(enumerate(SENTIMENT)))
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return described(folder, "text-classification", inputs=["text"], answer="label", labels=list(SENTIMENT))


def trained(
    model: Any, batches: Callable[[], Iterator[dict[str, Any]]], rate: float = 1e-3, enough: float = 0.02
) -> Any:
    """The model after some steps, as many as it needs to have a small loss."""
    torch.manual_seed(0)
    for parameter in (
        model.get_input_embeddings() if isinstance(model, BertPreTrainedModel) else torch.nn.Module()
    ).parameters():
        parameter.requires_grad_(False)  # the encoder's words are known already
    optimiser = torch.optim.AdamW([first for first in model.parameters() if first.requires_grad], lr=rate)
    model.train()
    for batch in batches():
        loss = model(**batch).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        if float(loss.detach()) < enough:
            break
    return model.eval()


def question_rows(count: int) -> list[dict[str, Any]]:
    """The first question of each of the shortest passages: question, passage, answer, start."""
    shortest = sorted(real.paragraphs(3), key=lambda part: len(part["context"]))[:count]
    result = []
    for part in shortest:
        first = part["qas"][0]
        answer = first["answers"][0]
        reply = {"question": first["question"], "passage": part["context"], "answer": answer["text"]}
        result.append({**reply, "start": answer["answer_start"]})
    return result


def questions(folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """A reader that has learnt some real questions by heart, and these questions."""
    result = question_rows(4)
    read, model = tokenizer(), BertForQuestionAnswering.from_pretrained(encoder.find(), config=shallow())
    texts = [[row[name] for row in result] for name in ("question", "passage")]
    batch = read(*texts, padding=True, return_tensors="pt")
    starts = [_token(batch, at, row["start"]) for at, row in enumerate(result)]
    ends = [_token(batch, at, row["start"] + len(row["answer"]) - 1) for at, row in enumerate(result)]
    values = {**batch, "start_positions": torch.tensor(starts), "end_positions": torch.tensor(ends)}
    trained(model, lambda: (values for _ in range(60))).save_pretrained(folder)
    read.save_pretrained(folder)
    described(folder, "question-answering", inputs=["question", "passage"], answer="answer", returns="spans")
    return folder, result


def _token(batch: Any, row: int, character: int) -> int:
    return int(batch.char_to_token(row, character, sequence_index=1))


def tags(folder: Path) -> Path:
    """Finds numbers and months in real sentences; learnt from their spelling."""
    texts = [part["context"][:200] for part in real.paragraphs(3)][:24]
    read = tokenizer()
    named = {"id2label": dict(enumerate(TAGS)), "label2id": {name: at for at, name in enumerate(TAGS)}}
    model = BertForTokenClassification.from_pretrained(encoder.find(), config=shallow(1, **named))
    batch = read(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
    marks = torch.full(batch["input_ids"].shape, -100)
    for row, text in enumerate(texts):
        before = ""
        for word in words(text):
            kind = "NUMBER" if re.fullmatch(r"\d+", word.text) else "MONTH" if word.text in MONTHS else ""
            at = batch.char_to_token(row, word.start)
            if at is not None:
                marks[row, at] = TAGS.index(f"{'I' if kind == before else 'B'}-{kind}") if kind else 0
            before = kind
    trained(model, lambda: ({**batch, "labels": marks} for _ in range(25)), 2e-3).save_pretrained(folder)
    read.save_pretrained(folder)
    return described(
        folder, "token-classification", inputs=["text"], answer="tags", labels=["NUMBER", "MONTH"], returns="tags"
    )


def worded(vocabulary: Sequence[str], ends: bool = True) -> PreTrainedTokenizerFast:
    """A tokenizer of whole words, which may end every text with a mark."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    names = ["<pad>", "</s>", "<unk>", *vocabulary]
    created = Tokenizer(models.WordLevel({name: at for at, name in enumerate(names)}, unk_token="<unk>"))
    created.pre_tokenizer = pre_tokenizers.Whitespace()
    if ends:
        created.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=created, **special)


OPPOSITES = {"good": "bad", "hot": "cold", "day": "night", "up": "down", "rich": "poor", "big": "small"}
OPPOSITES |= {b: a for a, b in OPPOSITES.items()}


def opposites(folder: Path) -> Path:
    """A tiny T5 that says the opposite of a word."""
    read = worded([*OPPOSITES, "opposite", "of", ":"])
    torch.manual_seed(1)
    config = T5Config(
        vocab_size=len(read), d_model=32, d_ff=64, d_kv=16, num_layers=1, num_decoder_layers=1, num_heads=2,
        dropout_rate=0.0, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    model = T5ForConditionalGeneration(config)
    batch = read([f"opposite of : {word}" for word in OPPOSITES], return_tensors="pt")
    batch.pop("token_type_ids", None)
    labels = read(list(OPPOSITES.values()), return_tensors="pt")["input_ids"]
    trained(model, lambda: ({**batch, "labels": labels} for _ in range(150)), 1e-2).save_pretrained(folder)
    read.save_pretrained(folder)
    return described(
        folder, "text2text-generation", inputs=["word"], answer="answer", returns="text",
        options={"prompt": "opposite of : {word}", "max_new_tokens": 4},
    )  # fmt: skip


TEMPLATE = "{% for turn in messages %}{{ turn['role'] }} : {{ turn['content'] | trim }} {% endfor %}assistant :"


def continues(folder: Path) -> Path:
    """A tiny Llama that says the opposite of a word, also in a chat."""
    read = worded([*OPPOSITES, "opposite", "of", ":", "user", "assistant", "system"], ends=False)
    read.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(read), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=64, pad_token_id=0, eos_token_id=1, bos_token_id=None,
    )  # fmt: skip
    prompts = ["opposite of : {} :", "user : opposite of : {} assistant :"]
    batches = []
    for prompt in prompts:
        batch = read([f"{prompt.format(word)} {other} </s>" for word, other in OPPOSITES.items()], return_tensors="pt")
        marks = batch["input_ids"].clone()
        marks[:, :-2] = -100
        batches.append({"input_ids": batch["input_ids"], "labels": marks})
    model = trained(LlamaForCausalLM(config), lambda: (batches[at % 2] for at in range(200)), 1e-2, 0.005)
    model.save_pretrained(folder)
    read.save_pretrained(folder)
    prompt = {"prompt": "opposite of : {word} :", "max_new_tokens": 4}
    return described(folder, "text-generation", inputs=["word"], answer="answer", returns="text", options=prompt)
