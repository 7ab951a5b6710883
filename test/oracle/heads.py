# SPDX-License-Identifier: Apache-2.0
"""Other classes of models of a type: classes of texts and tokens, and hidden states of encoders."""
from transformers.models.auto import modeling_auto

from model_types import MASKED

CLASSES = (modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
           modeling_auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES)
LABELS = {str(i): f'label {i}' for i in range(3)}


def heads(model_type, raw):
    """(architecture, config.json)"""
    for table in CLASSES:
        if model_type.name in table:
            yield table[model_type.name], {**raw, 'architectures': [table[model_type.name]], 'id2label': LABELS,
                                           'label2id': {name: int(i) for i, name in LABELS.items()}}
    base = modeling_auto.MODEL_MAPPING_NAMES.get(model_type.name)
    if model_type.task == MASKED and isinstance(base, str):
        yield base, {**raw, 'architectures': [base]}
