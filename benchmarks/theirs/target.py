"""The sentiment target as a transformers model, so that a pipeline can run it: in either environment."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoTokenizer, BertConfig, BertModel, BertPreTrainedModel, Pipeline, logging, pipeline
from transformers.modeling_outputs import SequenceClassifierOutput


class Target(BertPreTrainedModel):
    """The encoder with its adapter merged, and the head over first and mean state."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.dense = nn.Linear(2 * config.hidden_size, config.hidden_size)
        self.out = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **given: Tensor) -> SequenceClassifierOutput:
        """Logits (B, labels)."""
        states = self.bert(input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.to(states.dtype).unsqueeze(-1)
        mean = (states * weights).sum(1) / weights.sum(1)
        logits = self.out(torch.tanh(self.dense(torch.cat([states[:, 0], mean], -1))))
        return SequenceClassifierOutput(logits=logits)


def load(folder: Path) -> Pipeline:
    """The pipeline over the target that was written into `folder`."""
    logging.set_verbosity_error()  # it lists all known models because this one is not among them
    config = BertConfig(**json.loads((folder / "config.json").read_text()))
    model = Target(config)
    model.load_state_dict(load_file(folder / "model.safetensors"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return pipeline("text-classification", model=model.eval(), tokenizer=tokenizer, device=torch.device("cpu"))
