# SPDX-License-Identifier: Apache-2.0
"""Other classes of models of a type: classes of texts and tokens, questions, choices, and hidden states."""
from transformers.models.auto import modeling_auto

from model_types import ANSWERS

CLASSES = (modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
           modeling_auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES)
OTHERS = (modeling_auto.MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES,
          modeling_auto.MODEL_FOR_MULTIPLE_CHOICE_MAPPING_NAMES,
          modeling_auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES,
          modeling_auto.MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES)
LABELS = {str(i): f'label {i}' for i in range(3)}


def heads(model_type, raw):
    """(architecture, config.json)"""
    for table in CLASSES:
        if model_type.name in table:
            yield table[model_type.name], {**raw, 'architectures': [table[model_type.name]], 'id2label': LABELS,
                                           'label2id': {name: int(i) for i, name in LABELS.items()}}
    names = [table.get(model_type.name) for table in OTHERS]
    if model_type.task != ANSWERS:
        names.append(modeling_auto.MODEL_MAPPING_NAMES.get(model_type.name))
    for name in dict.fromkeys(names):
        if isinstance(name, str):
            yield name, {**raw, 'architectures': [name]}
