# SPDX-License-Identifier: Apache-2.0
"""Encoder-decoders with other names, vocabularies and windows, and those that read a text twice to classify it. See
family_models."""
import family_layers as fl
import family_models as fm
from family_layers import apply, linear


def fsmt():
    c, config, evaluate, names = fm.relative('fsmt', activation_function='relu', scale_embedding=True, pad_token_id=1,
                                             share_encoder_decoder_embeddings=False, tie_word_embeddings=True)
    del config['share_encoder_decoder_embeddings']
    return c, {**config, 'src_vocab_size': 61, 'tgt_vocab_size': 61, 'langs': ['en', 'de']}, evaluate, names


def bigbird_pegasus():
    def names(name):
        name = name.replace('.layer_norm.', '.layernorm_embedding.')
        if '.encoder.' in name:
            for short, long in (('q', 'query'), ('k', 'key'), ('v', 'value')):
                name = name.replace(f'self_attn.{short}_proj', f'self_attn.self.{long}')
            name = name.replace('self_attn.out_proj', 'self_attn.output')
        return name
    c, config, evaluate, _ = fm.relative('bigbird_pegasus', activation_function='gelu', scale_embedding=True, use_bias=True)
    return c, config, evaluate, names


def led():
    def names(name):
        if '.encoder.' in name:
            for short, long in (('q', 'query'), ('k', 'key'), ('v', 'value')):
                name = name.replace(f'self_attn.{short}_proj', f'self_attn.longformer_self_attn.{long}')
            name = name.replace('self_attn.out_proj', 'self_attn.output')
        return name.replace('model.', 'led.', 1)
    c, config, evaluate, _ = fm.relative('led', activation_function='gelu', attention_window=6)
    del config['max_position_embeddings']
    return c, {**config, 'max_encoder_position_embeddings': 30, 'max_decoder_position_embeddings': 30}, evaluate, names


def longt5():
    """Tokens of the source see three on each side."""
    c, config, evaluate, _ = fm.t5('F32', model_type='longt5', architectures=['LongT5ForConditionalGeneration'],
                                   feed_forward_proj='relu', tie_word_embeddings=True, local_radius=3)
    names = lambda name: name.replace('.SelfAttention', '.LocalSelfAttention') if name.startswith('encoder.') else name
    return c, config, evaluate, names


def last_end(ids, end):
    return max((row for row, token in enumerate(ids) if token == end), default=len(ids) - 1)


def classified(c, hidden, ids, end, asks):
    if asks:
        return {'token_classes': linear(c, 'qa_outputs', hidden)}
    row = hidden[last_end(ids, end):][:1]
    return {'classes': linear(c, 'classification_head.out_proj', apply('tanh', linear(c, 'classification_head.dense', row)))}


def add_head(c, width, asks):
    if asks:
        c.linear('qa_outputs', 2, width)
    else:
        c.linear('classification_head.dense', width, width)
        c.linear('classification_head.out_proj', 3, width)


def bart(asks=False):
    """The decoder reads the start token, then the text."""
    end = 59
    c, config, _, names = fm.relative('bart', activation_function='gelu', scale_embedding=True, eos_token_id=end,
                                      decoder_start_token_id=7)
    config = {**config, 'architectures': ['BartForQuestionAnswering' if asks else 'BartForSequenceClassification'],
              **({} if asks else {'num_labels': 3})}
    del c.shapes['final_logits_bias']
    add_head(c, 24, asks)
    table = c['model.shared.weight']

    def evaluate(prompt):
        ids = prompt['ids']
        memory = fl.marian_stack(c, config, 'encoder', ids, table)
        return classified(c, fl.marian_stack(c, config, 'decoder', [7, *ids[:-1]], table, memory), ids, end, asks)
    return c, config, evaluate, names


def t5():
    config = {**fm.T5, 'architectures': ['T5ForSequenceClassification'], 'feed_forward_proj': 'relu', 'num_labels': 3,
              'decoder_start_token_id': 0, 'eos_token_id': 59}
    c = fm.t5_checkpoint(config, 'F32')
    add_head(c, 20, False)
    embed = lambda ids: [c['shared.weight'][i] for i in ids]

    def evaluate(prompt):
        ids = prompt['ids']
        memory = fl.t5_stack(c, config, 'encoder', config['num_layers'], embed(ids))
        hidden = fl.t5_stack(c, config, 'decoder', config['num_decoder_layers'], embed([0, *ids[:-1]]), memory)
        return classified(c, hidden, ids, 59, False)
    return c, config, evaluate, lambda name: name if 'classification' in name else 'transformer.' + name


COMPILED = {'bart-classes', 'longt5'}
CASES = {'fsmt': fsmt, 'led': led, 'bigbird_pegasus': bigbird_pegasus, 'longt5': longt5, 'bart-classes': bart,
         'bart-question': lambda: bart(True), 't5-classes': t5}
