# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of BERT, RoBERTa and the encoders that vary their norms and tables."""
import family_layers as fl
from random_checkpoint import Checkpoint

same = lambda name: name


def embedding_tensors(c, config, place, width, types=True, norm=True):
    c.add(place + 'word_embeddings.weight', config['vocab_size'], width, deviation=1.0)
    if config['model_type'] != 'roformer':
        c.add(place + 'position_embeddings.weight', config['max_position_embeddings'], width, deviation=0.5)
    if types:
        c.add(place + 'token_type_embeddings.weight', config['type_vocab_size'], width, deviation=0.5)
    if norm:
        c.norm(place + 'LayerNorm', width)


def bert_checkpoint(config, dtype='F32'):
    c, base = Checkpoint(1, dtype), config['base']
    width, inner = config['hidden_size'], config['intermediate_size']
    place = base + 'embeddings.'
    before, narrow = fl.NORMS_BEFORE.get(config['model_type']), fl.table_width(config)
    embedding_tensors(c, config, place, narrow, norm=not before or before.table)
    if narrow != width:
        c.linear(fl.TABLE_PROJECTIONS[config['model_type']], width, narrow)
    if before:
        c.norm(base + before.last, width)
    for layer in range(config['num_hidden_layers']):
        at = f'{base}encoder.layer.{layer}.'
        for name in 'attention.self.query', 'attention.self.key', 'attention.self.value', 'attention.output.dense':
            c.linear(at + name, width, width)
        c.linear(at + 'intermediate.dense', inner, width)
        c.linear(at + 'output.dense', width, inner)
        c.norm(at + (before.attention if before else 'attention.output.LayerNorm'), width)
        c.norm(at + (before.inner if before else 'output.LayerNorm'), width)
    return c


BERT = {'base': 'bert.', 'model_type': 'bert', 'hidden_size': 36, 'intermediate_size': 50, 'num_hidden_layers': 2,
        'num_attention_heads': 3, 'vocab_size': 61, 'max_position_embeddings': 30, 'type_vocab_size': 2,
        'layer_norm_eps': 1e-12, 'pad_token_id': 0}
ROBERTA = {**BERT, 'base': 'roberta.', 'model_type': 'roberta', 'type_vocab_size': 1, 'layer_norm_eps': 1e-5,
           'pad_token_id': 1}


def bert_text():
    """Names of 2018: no prefix, gamma and beta."""
    config = {**BERT, 'architectures': ['BertForSequenceClassification'], 'id2label': {'0': 'a', '1': 'b', '2': 'c'}}
    c = bert_checkpoint(config)
    c.linear('bert.pooler.dense', 36, 36)
    c.linear('classifier', 3, 36)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'])
        pooled = fl.apply('tanh', fl.linear(c, 'bert.pooler.dense', x[:1]))
        return {'classes': fl.linear(c, 'classifier', pooled), 'hidden': x}

    def names(name):
        name = name.removeprefix('bert.')
        return name.replace('LayerNorm.weight', 'LayerNorm.gamma').replace('LayerNorm.bias', 'LayerNorm.beta')
    return c, config, evaluate, names


def roberta_masked(tied=True):
    """Untied, the projection has a table and a bias of its own; files keep the other bias, which nothing uses."""
    config = {**ROBERTA, 'architectures': ['RobertaForMaskedLM'], **({} if tied else {'tie_word_embeddings': False})}
    c = bert_checkpoint(config, 'F16')
    c.linear('lm_head.dense', 36, 36)
    c.norm('lm_head.layer_norm', 36)
    c.add('lm_head.bias', 61)
    if not tied:
        c.linear('lm_head.decoder', 61, 36)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'])
        table, bias = ('roberta.embeddings.word_embeddings', 'lm_head') if tied else ['lm_head.decoder'] * 2
        return fl.masked_results(c, x, ROBERTA_HEAD, 'gelu', 1e-5, table + '.weight', bias + '.bias')
    return c, config, evaluate, same


def encoder_masked(model_type, base, transform, projection, **changes):
    """Of BERT's kin: with the tensors of the masked head."""
    classes = {'ernie': 'Ernie', 'roformer': 'RoFormer', 'megatron-bert': 'MegatronBert', 'rembert': 'RemBert', 'data2vec-text': 'Data2VecText',
               'roberta-prelayernorm': 'RobertaPreLayerNorm', 'xlm-roberta-xl': 'XLMRobertaXL'}
    config = {**(ROBERTA if transform == ROBERTA_HEAD else BERT), 'model_type': model_type, 'base': base, **changes,
              'architectures': [classes[model_type] + 'ForMaskedLM']}
    c, width = bert_checkpoint(config), config.get('output_embedding_size') or fl.table_width(config)
    c.linear(transform[0], width, config['hidden_size'])
    c.norm(transform[1], width)
    c.add(projection + '.bias', 61)
    table = base + 'embeddings.word_embeddings.weight'
    if 'output_embedding_size' in config:
        table = projection + '.weight'
        c.add(table, 61, width)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'])
        return fl.masked_results(c, x, transform, 'gelu', config['layer_norm_eps'], table, projection + '.bias')
    return c, config, evaluate, same


ROBERTA_HEAD = 'lm_head.dense', 'lm_head.layer_norm'
BERT_HEAD = 'cls.predictions.transform.dense', 'cls.predictions.transform.LayerNorm'


def rotary_masked(model_type, name, transform, projection, **changes):
    t = fl.ROTARY[model_type]
    config = {**BERT, 'model_type': model_type, 'architectures': [name + 'ForMaskedLM'], 'base': t.base, 'layer_norm_eps': 1e-5, **changes}
    c, width, inner = Checkpoint(1), config['hidden_size'], config['intermediate_size']
    c.add(t.base + 'embeddings.word_embeddings.weight', config['vocab_size'], width, deviation=1.0)
    c.add(t.base + 'embeddings.token_type_embeddings.weight', config['type_vocab_size'], width, deviation=0.5)
    c.norm(t.base + t.norm, width)
    for layer in range(config['num_hidden_layers']):
        at = f'{t.base}{t.layers}.{layer}.'
        c.linear(at + t.packed, 3 * width, width, t.biases[0])
        c.linear(at + t.mixed, width, width, t.biases[0])
        for part in t.inner:
            c.linear(at + part, 2 * inner if 'up_gate' in part else inner, width, t.biases[1])
        c.linear(at + t.outer, width, inner, t.biases[2])
        c.norm(at + t.first, width)
        c.norm(at + t.last, width)
    c.linear(transform[0], width, width)
    c.norm(transform[1], width)
    c.add(projection + '.bias', 61)

    def evaluate(prompt):
        x = fl.rotary_bert(c, config, prompt['ids'], prompt['types'])
        table = t.base + 'embeddings.word_embeddings.weight'
        return fl.masked_results(c, x, transform, t.activation, 1e-5, table, projection + '.bias')
    return c, config, evaluate, same


def bert_question():
    config = {**BERT, 'architectures': ['BertForQuestionAnswering']}
    c = bert_checkpoint(config)
    c.linear('qa_outputs', 2, 36)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'])
        return {'token_classes': fl.linear(c, 'qa_outputs', x), 'hidden': x}
    return c, config, evaluate, same


def roberta_text():
    config = {**ROBERTA, 'architectures': ['RobertaForSequenceClassification'], 'num_labels': 5}
    c = bert_checkpoint(config)
    c.linear('classifier.dense', 36, 36)
    c.linear('classifier.out_proj', 5, 36)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'])
        first = fl.apply('tanh', fl.linear(c, 'classifier.dense', x[:1]))
        return {'classes': fl.linear(c, 'classifier.out_proj', first), 'hidden': x}
    return c, config, evaluate, same


def xlm_roberta_tokens():
    config = {**ROBERTA, 'model_type': 'xlm-roberta', 'architectures': ['XLMRobertaForTokenClassification'],
              'num_labels': 7, 'pad_token_id': 3}
    c = bert_checkpoint(config)
    c.linear('classifier', 7, 36)

    def evaluate(prompt):
        x = fl.bert(c, config, prompt['ids'], prompt['types'])
        return {'token_classes': fl.linear(c, 'classifier', x), 'hidden': x}
    return c, config, evaluate, same


def distilbert_masked():
    """With a projection of its own."""
    config = {'model_type': 'distilbert', 'architectures': ['DistilBertForMaskedLM'], 'dim': 28, 'hidden_dim': 45,
              'n_layers': 3, 'n_heads': 4, 'vocab_size': 61, 'max_position_embeddings': 30, 'activation': 'relu',
              'tie_word_embeddings': False}
    c, place = Checkpoint(2), 'distilbert.embeddings.'
    c.add(place + 'word_embeddings.weight', 61, 28, deviation=1.0)
    c.add(place + 'position_embeddings.weight', 30, 28, deviation=0.5)
    c.norm(place + 'LayerNorm', 28)
    for layer in range(3):
        at = f'distilbert.transformer.layer.{layer}.'
        for name in 'q_lin', 'k_lin', 'v_lin', 'out_lin':
            c.linear(f'{at}attention.{name}', 28, 28)
        c.linear(at + 'ffn.lin1', 45, 28)
        c.linear(at + 'ffn.lin2', 28, 45)
        c.norm(at + 'sa_layer_norm', 28)
        c.norm(at + 'output_layer_norm', 28)
    c.linear('vocab_transform', 28, 28)
    c.norm('vocab_layer_norm', 28)
    c.linear('vocab_projector', 61, 28)

    def evaluate(prompt):
        x = fl.distilbert(c, config, prompt['ids'])
        transform = 'vocab_transform', 'vocab_layer_norm'
        return fl.masked_results(c, x, transform, 'relu', 1e-12, 'vocab_projector.weight', 'vocab_projector.bias')
    return c, config, evaluate, same
