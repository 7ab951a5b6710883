# SPDX-License-Identifier: Apache-2.0
"""BERTs with inputs that are all zero, adapters, windows or masks that are dropped; Llamas that see the whole text; and
heads of encoders. See family_models."""
import bert_models as bm
import decoder_models as dm
import family_layers as fl
import plain_math as pm
from decoder_heads import headed
from random_checkpoint import Checkpoint
from family_layers import add, apply, linear

CLASSES = {'ernie': 'Ernie', 'layoutlm': 'LayoutLM', 'longformer': 'Longformer', 'luke': 'Luke', 'ibert': 'IBert',
           'xmod': 'Xmod', 'big_bird': 'BigBird', 'esm': 'Esm', 'squeezebert': 'SqueezeBert'}


def masked(model_type, base, transform, projection, tensors=lambda c, config: None, hooks=lambda c, config, prompt: {},
           function='gelu', **changes):
    """`tensors` adds those of the variant, `hooks` are what family_layers.bert takes for it."""
    config = {**(bm.ROBERTA if transform == bm.ROBERTA_HEAD else bm.BERT), 'model_type': model_type, 'base': base,
              'architectures': [CLASSES[model_type] + 'ForMaskedLM'], **changes}
    c = bm.bert_checkpoint(config)
    tensors(c, config)
    c.linear(transform[0], 36, 36)
    c.norm(transform[1], 36)
    c.add(projection + '.bias', 61)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'], **hooks(c, config, prompt))
        return fl.masked_results(c, x, transform, function, config['layer_norm_eps'],
                                 base + 'embeddings.word_embeddings.weight', projection + '.bias')
    return c, config, evaluate, bm.same


BERT = bm.BERT_HEAD, 'cls.predictions'
ROBERTA = bm.ROBERTA_HEAD, 'lm_head'


def zero_inputs(model_type, base, tables, **changes):
    """`tables`: rows, and how often the first one is added."""
    place = base + 'embeddings.'

    def tensors(c, config):
        for name, (rows, _) in tables.items():
            c.add(f'{place}{name}.weight', rows, 36, deviation=0.5)

    def hooks(c, config, prompt):
        def begin(rows):
            x = [c[place + 'word_embeddings.weight'][i] for i in prompt['ids']]
            x = add(x, [c[place + 'position_embeddings.weight'][row] for row in rows])
            x = add(x, [c[place + 'token_type_embeddings.weight'][t] for t in prompt['types']])
            for name, (_, times) in tables.items():
                x = add(x, [[times * value for value in c[f'{place}{name}.weight'][0]]] * len(x))
            return fl.layer_norm(c, place + 'LayerNorm', x, config['layer_norm_eps'])
        return {'begin': begin}
    return masked(model_type, base, *BERT, tensors, hooks, **changes)


def xmod(**changes):
    """The adapter of the second language."""
    def tensors(c, config):
        for layer in range(config['num_hidden_layers']):
            for language in config['languages']:
                at = f'roberta.encoder.layer.{layer}.output.adapter_modules.{language}.'
                c.linear(at + 'dense1', 12, 36)
                c.linear(at + 'dense2', 36, 12)
            if config.get('adapter_layer_norm'):
                c.norm(f'roberta.encoder.layer.{layer}.output.adapter_layer_norm', 36)

    def hooks(c, config, prompt):
        def adapt(at, x):
            at += 'output.'
            name = 'adapter_layer_norm' if config.get('adapter_layer_norm') else 'LayerNorm'
            normed = fl.layer_norm(c, at + name, x, config['layer_norm_eps'])
            adapter = at + 'adapter_modules.de_DE.'
            y = linear(c, adapter + 'dense2', apply('gelu', linear(c, adapter + 'dense1', normed)))
            return add(normed if config.get('ln_before_adapter', True) else x, y)
        return {'adapt': adapt}
    return masked('xmod', 'roberta.', *ROBERTA, tensors, hooks, adapter_reduction_factor=3, type_vocab_size=1,
                  languages=['en_XX', 'de_DE'], default_language='de_DE', **changes)


def longformer():
    def tensors(c, config):
        for layer in range(config['num_hidden_layers']):
            for name in 'query_global', 'key_global', 'value_global':
                c.linear(f'longformer.encoder.layer.{layer}.attention.self.{name}', 36, 36)
    return masked('longformer', 'longformer.', *ROBERTA, tensors, lambda c, config, prompt: {'window': 4},
                  attention_window=[6, 6])


def esm(rotary):
    """Token 5 is the mask."""
    def hooks(c, config, prompt):
        ids = prompt['ids']

        def begin(rows):
            factor = 0.88 / (1 - ids.count(5) / len(ids))
            x = [[0.0 if i == 5 else factor * value for value in c['esm.embeddings.word_embeddings.weight'][i]] for i in ids]
            if rotary:
                return x
            x = add(x, [c['esm.embeddings.position_embeddings.weight'][row] for row in rows])
            return fl.layer_norm(c, 'esm.embeddings.layer_norm', x, config['layer_norm_eps'])
        return {'begin': begin, 'turn': (lambda x: pm.rope(x, 3, 12, 10000.0, None)) if rotary else None}

    def tensors(c, config):
        for name in [name for name in c.shapes if 'token_type' in name or rotary and 'position_embeddings' in name]:
            del c.shapes[name]
        if not rotary:
            c.norm('esm.embeddings.layer_norm', 36)
    result = masked('esm', 'esm.', *ROBERTA, tensors, hooks, token_dropout=True, mask_token_id=5, pad_token_id=1,
                    position_embedding_type='rotary' if rotary else 'absolute', emb_layer_norm_before=not rotary)
    del result[1]['type_vocab_size']
    return result


def choice():
    config = {**bm.BERT, 'architectures': ['BertForMultipleChoice']}
    c = bm.bert_checkpoint(config)
    c.linear('bert.pooler.dense', 36, 36)
    c.linear('classifier', 1, 36)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'])
        return {'classes': linear(c, 'classifier', apply('tanh', linear(c, 'bert.pooler.dense', x[:1]))), 'hidden': x}
    return c, config, evaluate, bm.same


def eurobert(pooling):
    """The mean of a text's tokens, before or behind what the classifier makes of each."""
    base = lambda: dm.llama(model_type='eurobert', tied=False, rms_norm_eps=1e-5)
    c, config, evaluate, names = headed(base, 'EuroBertForSequenceClassification', 'classifier', True,
                                        is_causal=False, classifier_pooling=pooling)
    c.linear('dense', 24, 24)

    def values(prompt):
        hidden = evaluate(prompt)['hidden']
        mean = lambda rows: [[sum(column) / len(rows) for column in zip(*rows)]]
        dense = lambda rows: apply('gelu', linear(c, 'dense', rows))
        pooled = {'late': lambda: mean(dense(hidden)), 'mean': lambda: dense(mean(hidden)), 'bos': lambda: dense(hidden[:1])}
        return {'classes': linear(c, 'classifier', pooled[pooling]()), 'hidden': hidden}
    return c, config, values, names


def squeezebert():
    """Outputs of a group of features depend on a group of inputs; files have convolutions of one token."""
    groups = {'query': ('q_groups', 3), 'key': ('k_groups', 4), 'value': ('v_groups', 1),
              'attention.output.dense': ('post_attention_groups', 2), 'intermediate.dense': ('intermediate_groups', 3),
              'output.dense': ('output_groups', 3)}

    def tensors(c, config):
        for name in [name for name in c.shapes if name.endswith('.weight') and 'LayerNorm' not in name]:
            count = next((count for end, (_, count) in groups.items() if name.endswith(f'{end}.weight')), None)
            if count and '.layer.' in name:
                rows, inputs = c.shapes.pop(name)
                width, height = inputs // count, rows // count
                starts = [i // height * width for i in range(rows)]
                kept = [row[start:start + width] for row, start in zip(c.tensors[name], starts)]
                c.tensors[name] = [[0.0] * start + row + [0.0] * (inputs - width - start) for row, start in zip(kept, starts)]
                c.stacked[name] = [[[value] for value in row] for row in kept]

    def names(name):
        for before, now in (('encoder.layer.', 'encoder.layers.'), ('attention.self.', 'attention.'),
                            ('attention.output.dense', 'post_attention.conv1d'), ('.dense.', '.conv1d.'),
                            ('attention.output.LayerNorm', 'post_attention.layernorm'), ('output.LayerNorm', 'output.layernorm')):
            name = name.replace(before, now) if '.layer' in name else name
        return name
    c, config, evaluate, _ = masked('squeezebert', 'transformer.', *BERT, tensors, intermediate_size=51, embedding_size=36,
                                    **{key: count for key, count in groups.values()})
    return c, config, evaluate, names


def xlm(model_type, before):
    """Layers with their parts in lists."""
    name = {'xlm': 'XLM', 'flaubert': 'Flaubert'}[model_type]
    config = {'model_type': model_type, 'architectures': [name + 'WithLMHeadModel'], 'emb_dim': 36, 'n_layers': 2, 'n_heads': 3,
              'n_words': 61, 'vocab_size': 61, 'max_position_embeddings': 30, 'gelu_activation': True,
              **({'pre_norm': True} if before else {})}
    c, base = Checkpoint(1), 'transformer.'
    c.add(base + 'embeddings.weight', 61, 36, deviation=1.0)
    c.add(base + 'position_embeddings.weight', 30, 36, deviation=0.5)
    c.norm(base + 'layer_norm_emb', 36)
    for n in range(2):
        for part in 'q_lin', 'k_lin', 'v_lin', 'out_lin':
            c.linear(f'{base}attentions.{n}.{part}', 36, 36)
        c.linear(f'{base}ffns.{n}.lin1', 144, 36)
        c.linear(f'{base}ffns.{n}.lin2', 36, 144)
        c.norm(f'{base}layer_norm1.{n}', 36)
        c.norm(f'{base}layer_norm2.{n}', 36)
    c.add('pred_layer.proj.bias', 61)

    def part(x, name, function):
        norm = lambda y: fl.layer_norm(c, base + name, y, 1e-12)
        return add(x, function(norm(x))) if before else norm(add(x, function(x)))

    def attention(n, x):
        q, k, v = (linear(c, f'{base}attentions.{n}.{name}_lin', x) for name in 'qkv')
        return linear(c, f'{base}attentions.{n}.out_lin', fl.attend(q, k, v, 3, 12**-0.5))

    def evaluate(prompt):
        x = [[a + b for a, b in zip(c[base + 'embeddings.weight'][i], c[base + 'position_embeddings.weight'][p])]
             for p, i in enumerate(prompt['ids'])]
        x = fl.layer_norm(c, base + 'layer_norm_emb', x, 1e-12)
        for n in range(2):
            x = part(x, f'layer_norm1.{n}', lambda y: attention(n, y))
            x = part(x, f'layer_norm2.{n}', lambda y: linear(c, f'{base}ffns.{n}.lin2', apply('gelu', linear(
                c, f'{base}ffns.{n}.lin1', y))))
        return {'logits': pm.linear(x, c[base + 'embeddings.weight'], c['pred_layer.proj.bias']), 'hidden': x}
    return c, config, evaluate, bm.same


COMPILED = {'esm', 'eurobert-late', 'ernie-tasks', 'squeezebert'}
CASES = {
    'xlm': lambda: xlm('xlm', False),
    'flaubert': lambda: xlm('flaubert', True),
    'ernie-tasks': lambda: zero_inputs('ernie', 'ernie.', {'task_type_embeddings': (3, 1)}, use_task_id=True),
    'layoutlm': lambda: zero_inputs('layoutlm', 'layoutlm.', {f'{axis}_position_embeddings': (9, times) for axis, times in
                                                              zip('xyhw', (2, 2, 1, 1))}, max_2d_position_embeddings=9),
    'longformer': longformer,
    'luke': lambda: masked('luke', 'luke.', *ROBERTA),
    'ibert': lambda: masked('ibert', 'ibert.', *ROBERTA),
    'big_bird': lambda: masked('big_bird', 'bert.', *BERT, hidden_act='gelu'),
    'squeezebert': squeezebert,
    'xmod': xmod,
    'xmod-own-norm': lambda: xmod(adapter_layer_norm=True, ln_before_adapter=False),
    'esm': lambda: esm(True),
    'esm-absolute': lambda: esm(False),
    'bert-choice': choice,
    **{f'eurobert-{pooling}': lambda pooling=pooling: eurobert(pooling) for pooling in ('late', 'mean', 'bos')},
}
