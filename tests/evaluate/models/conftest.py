"""Small models with random weights, on disk: made once, with a tokenizer that knows a few hundred pieces of words."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedTokenizerFast,
)

TEXTS = (
    "The ferry at Lind was built in 1921 and crossed the river without an engine.",
    "A steel cable held it against the current.",
    "she went to the library",
    "Its first captain painted the hull green, they say — grün!",
    "Short.",
    "I",
    "the girls were kind to the captain and the captain was kind to the girls, who crossed the river again and again",
    "何も Zürich 🚢",
)
SIZE = 48


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """The cores are shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Sentences of many lengths, some beyond ASCII."""
    return list(TEXTS)


def bytes_tokenizer() -> PreTrainedTokenizerFast:
    """Pieces of bytes, as GPT-2 has them; it puts no token before a text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<end>", eos_token="<end>")


def starting_tokenizer() -> PreTrainedTokenizerFast:
    """The same pieces, with a start token before each text, as Llama has it."""
    fast = bytes_tokenizer()
    fast.add_special_tokens({"bos_token": "<s>"})
    start = fast.convert_tokens_to_ids("<s>")
    fast.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", start)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=fast.backend_tokenizer, bos_token="<s>", eos_token="<end>")


def words_tokenizer() -> PreTrainedTokenizerFast:
    """Pieces of words between [CLS] and [SEP], as BERT has them."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer.train_from_iterator(
        TEXTS, trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )


def causal(kind: str, vocabulary: int) -> Any:
    """A causal language model of two layers; its weights are wide, so that its probabilities differ much."""
    torch.manual_seed(5)
    if kind == "gpt2":
        config = GPT2Config(
            vocab_size=vocabulary,
            n_positions=64,
            n_embd=SIZE,
            n_layer=2,
            n_head=4,
            initializer_range=0.3,
            bos_token_id=0,
            eos_token_id=0,
        )
        return GPT2LMHeadModel(config)
    if kind == "llama":
        return LlamaForCausalLM(
            LlamaConfig(
                vocab_size=vocabulary,
                hidden_size=SIZE,
                intermediate_size=64,
                num_hidden_layers=2,
                initializer_range=0.3,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=128,
            )
        )
    return OPTForCausalLM(
        OPTConfig(
            vocab_size=vocabulary,
            hidden_size=SIZE,
            ffn_dim=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=128,
            word_embed_proj_dim=SIZE,
            init_std=0.3,
        )
    )


Folder = Callable[[str], Path]


@pytest.fixture(scope="session")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The folder of a causal language model: "gpt2", "llama" (with a start token) or "opt"."""
    created: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in created:
            created[kind] = tmp_path_factory.mktemp(kind)
            tokenizer = starting_tokenizer() if kind == "llama" else bytes_tokenizer()
            tokenizer.save_pretrained(created[kind])
            causal(kind, len(tokenizer)).save_pretrained(created[kind])
        return created[kind]

    return folder


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The folder of a BERT: "encoder", "regression", or a classifier with its labels: "hate,nothate"."""
    created: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in created:
            created[kind] = tmp_path_factory.mktemp("bert")
            tokenizer = words_tokenizer()
            tokenizer.save_pretrained(created[kind])
            labels = kind.split(",")
            more: dict[str, Any] = {} if kind == "encoder" else {"num_labels": len(labels)}
            if len(labels) > 1:
                more = {"id2label": dict(enumerate(labels)), "label2id": {name: at for at, name in enumerate(labels)}}
            config = BertConfig(
                vocab_size=len(tokenizer),
                hidden_size=SIZE,
                num_hidden_layers=3,
                num_attention_heads=4,
                intermediate_size=64,
                max_position_embeddings=64,
                initializer_range=0.3,
                **more,
            )
            torch.manual_seed(7)
            model = BertModel(config) if kind == "encoder" else BertForSequenceClassification(config)
            model.save_pretrained(created[kind])
        return created[kind]

    return folder


@pytest.fixture(scope="session")
def naive(language_model: Folder) -> Callable[[str, list[int], list[int]], float]:
    """Log-probability of target tokens after context tokens, token by token without batches, padding or a cache."""
    models_: dict[str, Any] = {}

    def score(kind: str, context: list[int], target: list[int]) -> float:
        if kind not in models_:
            models_[kind] = AutoModelForCausalLM.from_pretrained(language_model(kind)).eval()
        total, ids = 0.0, list(context)
        for token in target:
            with torch.no_grad():
                logits = models_[kind](torch.tensor([ids])).logits[0, -1]
            total += float(torch.log_softmax(logits.double(), -1)[token])
            ids.append(token)
        return total

    return score
