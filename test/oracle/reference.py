# SPDX-License-Identifier: Apache-2.0
"""Models of the library with random weights that depend on names and shapes alone, and what they compute."""
import hashlib
import json
import math
import os

import torch
import transformers

from model_types import ANSWERS, MASKED

MOST_WEIGHTS = 4_000_000
# How attention is computed. Falcon's own implementation adds its bias by position twice.
IMPLEMENTATIONS = {'falcon': 'sdpa'}
transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)
torch.set_grad_enabled(False)


def write_config(raw, folder):
    os.makedirs(folder)
    with open(os.path.join(folder, 'config.json'), 'w') as file:
        json.dump(raw, file)


def model_class(raw):
    return getattr(transformers, raw['architectures'][0])


def check_size(raw, config):
    with torch.device('meta'):
        count = sum(tensor.numel() for tensor in model_class(raw)(config).parameters())
    if count > MOST_WEIGHTS:
        raise ValueError(f'{count} weights, a tiny model has at most {MOST_WEIGHTS}')


def make_model(raw, folder):
    """A model in float64 whose parts are the plain ones, without fused kernels."""
    config = transformers.AutoConfig.from_pretrained(folder)  # as the library reads the file
    config._attn_implementation = IMPLEMENTATIONS.get(raw['model_type'], 'eager')
    check_size(raw, config)
    torch.manual_seed(0)  # for weights that keep the library's own values in part
    model = model_class(raw)(config).eval()
    if model._can_set_experts_implementation():
        model.set_experts_implementation('eager')
    randomize(model)
    return model.double()


def random_values(name, tensor, is_embedding):
    generator = torch.Generator().manual_seed(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))
    noise = torch.randn(tensor.shape, generator=generator)
    if tensor.dim() >= 2:
        # Small embeddings let the numbers that norms add to variances show.
        return noise * (0.1 if is_embedding else 1.2 / math.sqrt(tensor.shape[-1]))
    isPlain = tensor.numel() == 0 or bool((tensor == tensor.flatten()[0]).all())
    return tensor + 0.3 * noise if isPlain else tensor * (1 + 0.1 * noise)


def randomize(model):
    """All weights get values that change results; those of one name and shape have the same in all models. Tables of
    sinusoids are frozen."""
    embeddings = {id(module.weight) for module in model.modules() if isinstance(module, torch.nn.Embedding)}
    for name, tensor in model.named_parameters():
        if tensor.requires_grad:
            tensor.copy_(random_values(name, tensor, id(tensor) in embeddings))
    saved = model.state_dict()
    for name, tensor in model.named_buffers():
        if name in saved and tensor.is_floating_point():
            tensor.copy_(random_values(name, tensor, False))
    model.tie_weights()


def output_kind(raw):
    """What talc calls the result of a model."""
    architecture = raw['architectures'][0]
    for ending, kind in (('ForSequenceClassification', 'classes'), ('ForMultipleChoice', 'classes'),
                         ('ForNextSentencePrediction', 'classes'), ('ForTokenClassification', 'token_classes'),
                         ('ForQuestionAnswering', 'token_classes')):
        if architecture.endswith(ending):
            return kind
    hasHead = 'For' in architecture or architecture.endswith(('LMHeadModel', 'MTModel', 'DoubleHeadsModel'))
    return 'logits' if hasHead else 'hidden'


def forward(model, task, prompt):
    """Rows of all tokens of a prompt, or one row of classes."""
    ids = torch.tensor([prompt['ids']])
    options = {}
    if 'types' in prompt:
        options['token_type_ids'] = torch.tensor([prompt['types']])
    if type(model).__name__.endswith('ForMultipleChoice'):
        ids, options = ids[None], {name: values[None] for name, values in options.items()}
    if task == ANSWERS:
        options['decoder_input_ids'], ids = ids, torch.tensor([prompt['source']])
    if task != MASKED:
        options['use_cache'] = False
    result = model(input_ids=ids, **options)
    if 'start_logits' in result:
        return torch.stack((result['start_logits'][0], result['end_logits'][0]), -1).double().tolist()
    rows = result['logits'] if 'logits' in result else result['last_hidden_state']
    return rows.double().reshape(-1, rows.shape[-1]).tolist()


def save(model, raw, folder):
    """As the library saves models, with the keys of `raw` in config.json. The weights' values are exact in f32."""
    model.save_pretrained(folder)
    with open(os.path.join(folder, 'config.json')) as file:
        saved = json.load(file)
    with open(os.path.join(folder, 'config.json'), 'w') as file:
        json.dump(raw, file)
    return saved
