# SPDX-License-Identifier: Apache-2.0
"""The model types of the library by what their models compute, from its own tables of auto classes."""
import typing

from transformers import CONFIG_MAPPING
from transformers.models.auto import modeling_auto

CAUSAL, MASKED, ANSWERS, PICTURES = 'causal', 'masked', 'answers', 'pictures'
TABLES = {
    PICTURES: modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    CAUSAL: modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MASKED: modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    ANSWERS: modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
}


class ModelType(typing.NamedTuple):
    name: str
    task: str
    architecture: str

    @property
    def config_class(self):
        return CONFIG_MAPPING[self.name]


def all_types():
    """The types by name. Encoders are masked, whatever else their classes can be; encoder-decoders answer. Of models of
    texts and pictures the part for texts is compared."""
    result = {}
    for task, table in TABLES.items():
        for name, architecture in table.items():
            result[name] = ModelType(name, task, architecture if isinstance(architecture, str) else architecture[0])
    return dict(sorted(result.items()))
