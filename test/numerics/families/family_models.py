# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of the encoder and encoder-decoder families, of odd sizes, and what they compute.

CASES maps a name to a function that yields (checkpoint, config, evaluate, names): evaluate(prompt) is {result: rows},
`names` maps tensor names to those in the file.
"""
import family_layers as fl
from bert_models import (BERT, BERT_HEAD, ROBERTA, ROBERTA_HEAD, bert_checkpoint, bert_question, bert_text, distilbert_masked,
                         embedding_tensors, encoder_masked, roberta_masked, rotary_masked, roberta_text, same, xlm_roberta_tokens)
from random_checkpoint import Checkpoint

ELECTRA = {**BERT, 'base': 'electra.', 'model_type': 'electra', 'embedding_size': 20}


def electra_replaced():
    """A score for each token."""
    config = {**ELECTRA, 'architectures': ['ElectraForPreTraining']}
    c = bert_checkpoint(config)
    c.linear('discriminator_predictions.dense', 36, 36)
    c.linear('discriminator_predictions.dense_prediction', 1, 36)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'])
        y = fl.apply('gelu', fl.linear(c, 'discriminator_predictions.dense', x))
        return {'token_classes': fl.linear(c, 'discriminator_predictions.dense_prediction', y), 'hidden': x}
    return c, config, evaluate, same


def electra_masked():
    config = {**ELECTRA, 'architectures': ['ElectraForMaskedLM']}
    c = bert_checkpoint(config, 'F16')
    c.linear('generator_predictions.dense', 20, 36)
    c.norm('generator_predictions.LayerNorm', 20)
    c.add('generator_lm_head.bias', 61)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'])
        y = fl.apply('gelu', fl.linear(c, 'generator_predictions.dense', x))
        y = fl.layer_norm(c, 'generator_predictions.LayerNorm', y, 1e-12)
        table = c['electra.embeddings.word_embeddings.weight']
        return {'logits': fl.pm.linear(y, table, c['generator_lm_head.bias']), 'hidden': x}
    return c, config, evaluate, same


def mpnet_masked():
    config = {**BERT, 'model_type': 'mpnet', 'architectures': ['MPNetForMaskedLM'], 'layer_norm_eps': 1e-5,
              'pad_token_id': 1}
    del config['type_vocab_size']
    c = Checkpoint(5)
    embedding_tensors(c, config, 'mpnet.embeddings.', 36, types=False)
    c.add('mpnet.encoder.relative_attention_bias.weight', 32, 3, deviation=1.0)
    for layer in range(2):
        at = f'mpnet.encoder.layer.{layer}.'
        for name in 'q', 'k', 'v', 'o':
            c.linear(f'{at}attention.attn.{name}', 36, 36)
        c.linear(at + 'intermediate.dense', 50, 36)
        c.linear(at + 'output.dense', 36, 50)
        c.norm(at + 'attention.LayerNorm', 36)
        c.norm(at + 'output.LayerNorm', 36)
    c.linear('lm_head.dense', 36, 36)
    c.norm('lm_head.layer_norm', 36)
    c.add('lm_head.bias', 61)

    def evaluate(prompt):
        x = fl.mpnet(c, config, prompt['ids'])
        return fl.masked_results(c, x, ROBERTA_HEAD, 'gelu', 1e-5, 'mpnet.embeddings.word_embeddings.weight', 'lm_head.bias')
    return c, config, evaluate, same


def albert_text():
    """Five applications of two groups of two layers."""
    config = {**BERT, 'model_type': 'albert', 'architectures': ['AlbertForSequenceClassification'], 'num_labels': 3,
              'embedding_size': 20, 'num_hidden_layers': 5, 'num_hidden_groups': 2, 'inner_group_num': 2}
    c = Checkpoint(6, 'F16')
    embedding_tensors(c, config, 'albert.embeddings.', 20)
    c.linear('albert.encoder.embedding_hidden_mapping_in', 36, 20)
    for group in range(2):
        for inner in range(2):
            at = f'albert.encoder.albert_layer_groups.{group}.albert_layers.{inner}.'
            for name in 'query', 'key', 'value', 'dense':
                c.linear(f'{at}attention.{name}', 36, 36)
            c.linear(at + 'ffn', 50, 36)
            c.linear(at + 'ffn_output', 36, 50)
            c.norm(at + 'attention.LayerNorm', 36)
            c.norm(at + 'full_layer_layer_norm', 36)
    c.linear('albert.pooler', 36, 36)
    c.linear('classifier', 3, 36)

    def evaluate(prompt):
        x = fl.albert(c, config, prompt['ids'], prompt['types'])
        pooled = fl.apply('tanh', fl.linear(c, 'albert.pooler', x[:1]))
        return {'classes': fl.linear(c, 'classifier', pooled), 'hidden': x}
    return c, config, evaluate, same


def modernbert_masked():
    config = {'model_type': 'modernbert', 'architectures': ['ModernBertForMaskedLM'], 'hidden_size': 36,
              'intermediate_size': 41, 'num_hidden_layers': 4, 'num_attention_heads': 3, 'vocab_size': 61,
              'max_position_embeddings': 26, 'local_attention': 9, 'global_rope_theta': 3000.0,
              'local_rope_theta': 100.0}
    c = Checkpoint(8)
    c.add('model.embeddings.tok_embeddings.weight', 61, 36, deviation=1.0)
    c.norm('model.embeddings.norm', 36, False)
    for layer in range(4):
        at = f'model.layers.{layer}.'
        c.linear(at + 'attn.Wqkv', 108, 36, False)
        c.linear(at + 'attn.Wo', 36, 36, False)
        c.linear(at + 'mlp.Wi', 82, 36, False)
        c.linear(at + 'mlp.Wo', 36, 41, False)
        c.norm(at + 'mlp_norm', 36, False)
        if layer:
            c.norm(at + 'attn_norm', 36, False)
    c.norm('model.final_norm', 36, False)
    c.linear('head.dense', 36, 36, False)
    c.norm('head.norm', 36, False)
    c.add('decoder.bias', 61)

    def evaluate(prompt):
        x = fl.modernbert(c, config, prompt['ids'])
        y = fl.apply('gelu', fl.linear(c, 'head.dense', x))
        y = fl.pm.norm('layer', y, c['head.norm.weight'], None, 1e-5, 1)
        logits = fl.pm.linear(y, c['model.embeddings.tok_embeddings.weight'], c['decoder.bias'])
        return {'logits': logits, 'hidden': x}
    return c, config, evaluate, same


def t5_checkpoint(config, dtype):
    c = Checkpoint(3, dtype)
    width, inner, heads = config['d_model'], config['d_ff'], config['num_heads']
    total = heads * config['d_kv']
    gated = config['feed_forward_proj'] != 'relu'
    c.add('shared.weight', config['vocab_size'], width, deviation=1.0)

    def attention(place):
        for name in 'qkv':
            c.linear(f'{place}.{name}', total, width, bias=False)
        c.linear(place + '.o', width, total, bias=False)

    for stack, key in ('encoder', 'num_layers'), ('decoder', 'num_decoder_layers'):
        for layer in range(config[key]):
            at, parts = f'{stack}.block.{layer}.layer.', 3 if stack == 'decoder' else 2
            attention(at + '0.SelfAttention')
            if stack == 'decoder':
                attention(at + '1.EncDecAttention')
            for name in ('wi_0', 'wi_1') if gated else ('wi',):
                c.linear(f'{at}{parts - 1}.DenseReluDense.{name}', inner, width, bias=False)
            c.linear(f'{at}{parts - 1}.DenseReluDense.wo', width, inner, bias=False)
            for part in range(parts):
                c.norm(f'{at}{part}.layer_norm', width, bias=False)
        for layer in range(config[key] if config['model_type'] == 'umt5' else 1):
            c.add(f'{stack}.block.{layer}.layer.0.SelfAttention.relative_attention_bias.weight',
                  config['relative_attention_num_buckets'], heads, deviation=1.0)
        c.norm(stack + '.final_layer_norm', width, bias=False)
    return c


T5 = {'model_type': 't5', 'd_model': 20, 'd_kv': 7, 'd_ff': 33, 'num_layers': 2, 'num_decoder_layers': 3,
      'num_heads': 3, 'vocab_size': 61, 'relative_attention_num_buckets': 8, 'relative_attention_max_distance': 12}


def t5(dtype, **changes):
    """UMT5 has a table of distances in every layer."""
    config = {**T5, 'architectures': ['T5ForConditionalGeneration'], **changes}
    c = t5_checkpoint(config, dtype)
    tied = config['tie_word_embeddings']
    if not tied:
        c.add('lm_head.weight', 61, 20)

    def evaluate(prompt):
        embed = lambda ids: [c['shared.weight'][i] for i in ids]
        memory = fl.t5_stack(c, config, 'encoder', config['num_layers'], embed(prompt['source']))
        x = fl.t5_stack(c, config, 'decoder', config['num_decoder_layers'], embed(prompt['ids']), memory)
        if tied:
            return {'logits': fl.pm.linear([[v * 20**-0.5 for v in row] for row in x], c['shared.weight'], None)}
        return {'logits': fl.linear(c, 'lm_head', x)}
    return c, config, evaluate, same


def t5_encoder():
    config = {**T5, 'architectures': ['T5EncoderModel'], 'feed_forward_proj': 'relu', 'num_decoder_layers': 0}
    c = t5_checkpoint(config, 'F32')
    names = lambda name: name.replace('shared.weight', 'encoder.embed_tokens.weight')
    embed = lambda ids: [c['shared.weight'][i] for i in ids]
    evaluate = lambda prompt: {'hidden': fl.t5_stack(c, config, 'encoder', 2, embed(prompt['ids']))}
    return c, {**config, 'num_decoder_layers': None}, evaluate, names


def shares_tables(config):
    return config.get('share_encoder_decoder_embeddings', True)


def marian(dtype='F32', **changes):
    """And its relatives."""
    config = {'model_type': 'marian', 'architectures': ['MarianMTModel'], 'd_model': 24, 'encoder_layers': 1,
              'decoder_layers': 2, 'encoder_attention_heads': 2, 'decoder_attention_heads': 3, 'encoder_ffn_dim': 30,
              'decoder_ffn_dim': 21, 'vocab_size': 61, 'max_position_embeddings': 64, **changes}
    c, target, width = Checkpoint(4, dtype), config.get('decoder_vocab_size', 61), config['d_model']
    tied = config.get('tie_word_embeddings', True)
    separate = not config.get('share_encoder_decoder_embeddings', True) or not tied
    if separate and shares_tables(config):
        c.add('model.shared.weight', 61, width)  # which nothing uses
    tables = ['model.encoder.embed_tokens.weight', 'model.decoder.embed_tokens.weight'] if separate else \
        ['model.shared.weight'] * 2
    for table, rows in zip(tables, (61, target)):
        c.add(table, rows, width, deviation=0.5)
    family = config['model_type']
    if family not in ('m2m_100', 'fsmt'):
        c.add('final_logits_bias', 1, target, deviation=0.5)
    if not tied:
        c.add('lm_head.weight', target, width)
    for stack in 'encoder', 'decoder':
        place, inner = f'model.{stack}.', config[stack + '_ffn_dim']
        for layer in range(config[stack + '_layers']):
            at = f'{place}layers.{layer}.'
            for kind in ('self_attn', 'encoder_attn')[:1 if stack == 'encoder' else 2]:
                for name in 'q', 'k', 'v', 'out':
                    c.linear(f'{at}{kind}.{name}_proj', width, width)
                c.norm(f'{at}{kind}_layer_norm', width)
            c.linear(at + 'fc1', inner, width)
            c.linear(at + 'fc2', width, inner)
            c.norm(at + 'final_layer_norm', width)
        for name, used in (('layer_norm', config.get('normalize_before') or family in fl.NORMS_FIRST),
                           ('layernorm_embedding', config.get('normalize_embedding') or family in fl.EMBEDDING_NORMS)):
            if used:
                c.norm(place + name, width)
        if family in fl.LEARNED:
            rows = config['max_position_embeddings'] + fl.LEARNED[family]
            c.add(place + 'embed_positions.weight', rows, width, deviation=0.5)

    def evaluate(prompt):
        memory = fl.marian_stack(c, config, 'encoder', prompt['source'], c[tables[0]])
        x = fl.marian_stack(c, config, 'decoder', prompt['ids'], c[tables[1]], memory)
        head = c.tensors.get('lm_head.weight', c[tables[1]])
        bias = c.tensors.get('final_logits_bias', [None])
        return {'logits': fl.pm.linear(x, head, bias[0])}
    return c, config, evaluate, same


CLASSES = {'bart': 'Bart', 'mbart': 'MBart', 'm2m_100': 'M2M100', 'pegasus': 'Pegasus', 'mvp': 'Mvp', 'plbart': 'PLBart',
           'blenderbot': 'Blenderbot', 'blenderbot-small': 'BlenderbotSmall', 'bigbird_pegasus': 'BigBirdPegasus',
           'fsmt': 'FSMT', 'led': 'LED'}


def relative(model_type, **changes):
    return marian(model_type=model_type, architectures=[CLASSES[model_type] + 'ForConditionalGeneration'],
                  max_position_embeddings=30, **changes)


CASES = {
    'bert-text': bert_text,
    'bert-question': bert_question,
    'ernie-masked': lambda: encoder_masked('ernie', 'ernie.', BERT_HEAD, 'cls.predictions'),
    'megatron-bert-masked': lambda: encoder_masked('megatron-bert', 'bert.', BERT_HEAD, 'cls.predictions'),
    'rembert-masked': lambda: encoder_masked(
        'rembert', 'rembert.', ('cls.predictions.dense', 'cls.predictions.LayerNorm'), 'cls.predictions.decoder',
        input_embedding_size=20, output_embedding_size=28),
    'data2vec-masked': lambda: encoder_masked('data2vec-text', 'data2vec_text.', ROBERTA_HEAD, 'lm_head'),
    'roberta-prelayernorm-masked': lambda: encoder_masked('roberta-prelayernorm', 'roberta_prelayernorm.', ROBERTA_HEAD,
                                                          'lm_head'),
    'xlm-roberta-xl-masked': lambda: encoder_masked('xlm-roberta-xl', 'roberta.', ROBERTA_HEAD, 'lm_head'),
    'roformer-masked': lambda: encoder_masked('roformer', 'roformer.', BERT_HEAD, 'cls.predictions', embedding_size=20),
    'nomic-masked': lambda: rotary_masked(
        'nomic_bert', 'NomicBert', ('cls.predictions.transform.dense', 'cls.predictions.transform.layer_norm'), 'cls.predictions',
        hidden_act='silu'),
    'gte-masked': lambda: rotary_masked('gte', 'Gte', ('lm_head.dense', 'lm_head.norm'), 'lm_head.decoder'),
    'jina-masked': lambda: rotary_masked('jina_embeddings_v3', 'JinaEmbeddingsV3', ROBERTA_HEAD, 'lm_head', type_vocab_size=1),
    'roberta-masked': roberta_masked,
    'roberta-untied': lambda: roberta_masked(tied=False),
    'roberta-text': roberta_text,
    'xlm-roberta-tokens': xlm_roberta_tokens,
    'distilbert-masked': distilbert_masked,
    'electra-replaced': electra_replaced,
    'electra-masked': electra_masked,
    'mpnet-masked': mpnet_masked,
    'albert-text': albert_text,
    'modernbert-masked': modernbert_masked,
    'bart': lambda: relative('bart', activation_function='gelu', scale_embedding=True),
    'bart-untied': lambda: relative('bart', activation_function='gelu', tie_word_embeddings=False),
    'mvp': lambda: relative('mvp', activation_function='gelu'),
    'plbart': lambda: relative('plbart', activation_function='gelu', scale_embedding=True),
    'blenderbot': lambda: relative('blenderbot', activation_function='gelu'),
    'blenderbot-small': lambda: relative('blenderbot-small', activation_function='gelu'),
    'mbart': lambda: relative('mbart', activation_function='relu', d_model=30),
    'm2m_100': lambda: relative('m2m_100', activation_function='relu', scale_embedding=True, pad_token_id=1),
    'pegasus': lambda: relative('pegasus', activation_function='relu', scale_embedding=True, d_model=30, pad_token_id=0),
    'umt5': lambda: t5('F32', model_type='umt5', architectures=['UMT5ForConditionalGeneration'],
                       feed_forward_proj='gated-gelu', tie_word_embeddings=True),
    't5-tied': lambda: t5('F32', feed_forward_proj='relu', tie_word_embeddings=True),
    't5-gated': lambda: t5('F16', feed_forward_proj='gated-gelu', tie_word_embeddings=False),
    't5-encoder': t5_encoder,
    'marian': lambda: marian('F16', scale_embedding=True, activation_function='swish'),
    'marian-before': lambda: marian(normalize_before=True, share_encoder_decoder_embeddings=False,
                                    decoder_vocab_size=53, activation_function='gelu'),
    'marian-untied': lambda: marian(d_model=15, encoder_attention_heads=5, normalize_embedding=True,
                                    tie_word_embeddings=False, activation_function='relu'),
}
