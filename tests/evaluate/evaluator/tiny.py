"""Tiny models with random weights, as folders that transformers can load, and a metric that shows what it got."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = "the a good bad fine awful film plot actor was is not very at all in of and Paris Rome city who where".split()
PIECES = [*WORDS, *"abcdefghijklmnopqrstuvwxyz", *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"), ".", "?"]
SHAPE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}


class Seen:
    """A stand-in for a module: remembers its columns, and gives how many rows there were."""

    name = "seen"

    def compute(self, **columns: Any) -> dict[str, float]:
        self.columns = columns
        return {"rows": float(len(next(iter(columns.values()))))}


def texts(n: int, seed: int = 0) -> list[str]:
    """Texts of 1 to 12 words."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 13))) for _ in range(n)]


def word_pieces(longest: int = 64, **special: Any) -> Any:
    """A fast tokenizer over `WORDS` and letters, as BERT has one."""
    vocabulary = {token: number for number, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *PIECES])}
    raw = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    raw.normalizer = normalizers.BertNormalizer(lowercase=False)
    raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    raw.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        model_max_length=longest,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **special,
    )


def words_only(**special: Any) -> Any:
    """A tokenizer of whole words and spaces, for models that write."""
    vocabulary = {token: number for number, token in enumerate(["<pad>", "<s>", "</s>", "<unk>", *WORDS])}
    vocabulary |= {f"Ġ{word}": len(vocabulary) + at for at, word in enumerate(WORDS)}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    from tokenizers import decoders

    raw.decoder = decoders.ByteLevel()
    if special.pop("ending", False):
        raw.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", eos_token="</s>", unk_token="<unk>", **special
    )


def saved(folder: Path, model: Any, *processors_: Any) -> Path:
    """The folder, with the model and what goes with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save_pretrained(folder)
        for first in processors_:
            first.save_pretrained(folder)
    return folder


def bert(kind: str, seed: int = 0, longest: int = 64, **config: Any) -> tuple[Any, Any]:
    """A BERT of this class of transformers, and its tokenizer; weights are large, so that answers differ."""
    torch.manual_seed(seed)
    tokenizer = word_pieces(longest)
    shape = transformers.BertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=longest, initializer_range=0.6, **SHAPE, **config
    )
    return getattr(transformers, kind)(shape).eval(), tokenizer


def gpt2(seed: int = 0, **special: Any) -> tuple[Any, Any]:
    """A GPT-2 that writes words."""
    torch.manual_seed(seed)
    tokenizer = words_only(**special)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=64,
        n_embd=16,
        n_layer=2,
        n_head=2,
        bos_token_id=1,
        eos_token_id=2,
        initializer_range=0.6,
        pad_token_id=tokenizer.pad_token_id,
    )
    return transformers.GPT2LMHeadModel(config).eval(), tokenizer


def bart(seed: int = 0) -> tuple[Any, Any]:
    """A BART that turns words into words."""
    torch.manual_seed(seed)
    tokenizer = words_only(pad_token="<pad>", ending=True)
    config = transformers.BartConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=64,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=24,
        decoder_ffn_dim=24,
        init_std=0.8,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=None,
    )
    return transformers.BartForConditionalGeneration(config).eval(), tokenizer
